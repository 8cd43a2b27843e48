# Whole runs up to the end of the compile phase by the real Chef; nothing converges. Reads lines of JSON: {"cookbooks":
# folder, "bags": folder, "facts": file, "run_list": [item]}, and answers each with what stands in the levels, the
# declared resources in order, and what failed.
#
# CHEF_SRC: a checkout of chef/chef; MIXLIB_AUTH: the lib of mixlib-authentication
require "fileutils"
require "json"
require "logger"
require "set"
require "socket"
require "tmpdir"

source = ENV.fetch("CHEF_SRC")
$LOAD_PATH.unshift(*%w[lib chef-utils/lib chef-config/lib].map { |one| File.join(source, one) }, ENV.fetch("MIXLIB_AUTH"))
$VERBOSE = nil
# Two libraries that Chef loads and that recipes have no use for.
module SyslogLogger; end
class Logger::Syslog; def initialize(*) = nil; end
$LOADED_FEATURES << "syslog-logger.rb"
$stderr.reopen(File::NULL)
%w[chef/node chef/delayed_evaluator chef/log chef/run_context chef/cookbook_loader chef/cookbook/cookbook_collection
   chef/run_context/cookbook_compiler chef/event_dispatch/dispatcher chef/recipe chef/resources chef/providers chef/data_bag
   chef/data_bag_item chef/platform chef/mixin/deep_merge chef/cookbook/file_vendor chef/cookbook/file_system_file_vendor
   chef/environment].each do |part|
  require part
rescue LoadError => error
  warn("#{part}: #{error.message}")
end
Chef::Log.init($stderr)
Chef::Log.level = :fatal
class Chef::Resource; def run_action(*) = nil; end

LEVELS = %w[default env_default role_default force_default normal override role_override env_override force_override automatic]
require_relative "chef_serve"

def configure(asked)
  Chef::Config.reset
  Chef::Config[:solo_legacy_mode] = true
  Chef::Config[:cookbook_path] = [asked["cookbooks"]]
  Chef::Config[:data_bag_path] = asked["bags"]
  Chef::Config[:silence_deprecation_warnings] = true
  Chef::Config[:treat_deprecation_warnings_as_errors] = false
  Chef::Config[:file_cache_path] = "/var/chef/cache"
end

def started(asked, events)
  node = Chef::Node.new
  node.name("n1")
  context = Chef::RunContext.new
  context.events, context.node = events, node
  node.run_context = context
  node.reset_defaults_and_overrides
  node.consume_external_attrs(JSON.parse(File.read(asked["facts"])), {})
  node.run_list(*asked["run_list"])
  [node, context]
end

def answer(asked)
  configure(asked)
  events = Chef::EventDispatch::Dispatcher.new
  node, context = started(asked, events)
  expansion = node.expand!("disk")
  loader = Chef::CookbookLoader.new(asked["cookbooks"])
  Chef::Cookbook::FileVendor.fetch_from_disk([asked["cookbooks"]])
  loader.load_cookbooks
  context.cookbook_collection = Chef::CookbookCollection.new(loader)
  Chef.set_node(node)
  Chef.set_run_context(context)
  compiler = Chef::RunContext::CookbookCompiler.new(context, expansion, events)
  context.instance_variable_set(:@cookbook_compiler, compiler)
  failed = nil
  begin
    compiler.compile_libraries
    compiler.compile_attributes
    compiler.compile_lwrps
    compiler.compile_resource_definitions
    expansion.recipes.each { |recipe| context.load_recipe(recipe) }
  rescue ScriptError, StandardError, SystemStackError => error
    failed = "#{error.class}: #{error.message[0, 200]} #{error.backtrace.first(2)}"
  end
  levels = LEVELS.to_h { |level| [level, plain(node.attributes.public_send(level))] }
  { "levels" => levels, "merged" => plain(node.merged_attributes, true), "failed" => failed,
    "resources" => context.resource_collection.map { |one| "#{one.declared_type}[#{one.name}]" } }
end

serve { |asked| answer(asked) }
