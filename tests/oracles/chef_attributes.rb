# Attribute files of cookbooks, loaded into the real Chef::Node. Reads lines of JSON: {"facts": file, "libraries": [file],
# "files": [[cookbook, name, file]], "levels": [name]}, and answers each with what stands in the levels and what failed.
#
# CHEF_SRC: a checkout of chef/chef; MIXLIB_AUTH: the lib of mixlib-authentication
require "json"
require "logger"

source = ENV.fetch("CHEF_SRC")
$LOAD_PATH.unshift(*%w[lib chef-utils/lib chef-config/lib].map { |one| File.join(source, one) }, ENV.fetch("MIXLIB_AUTH"))
$VERBOSE = nil
# Two libraries that Chef loads and that attributes have no use for.
module SyslogLogger; end
class Logger::Syslog; def initialize(*) = nil; end
$LOADED_FEATURES << "syslog-logger.rb"
require "chef/node"
require "chef/recipe"
%w[chef/log chef/platform chef/version/platform chef/version_constraint/platform chef/mixin/which chef/mixin/shell_out
   chef/resource/lwrp_base chef/provider/lwrp_base chef/mash chef/util/path_helper tmpdir securerandom].each do |part|
  require part
rescue LoadError => error
  warn("#{part}: #{error.message}")
end
Chef::Log.init($stderr)
Chef::Log.level = :fatal

CHEF_LIB = File.join(File.realpath(source), "lib")
require_relative "chef_serve"

# The tree of a level. Chef's own folder is another one on each machine.
def level_of(value)
  plain(value) { |text| text.sub(CHEF_LIB, "/opt/chef/lib") }
end

# What a node asks of its run: which attribute files there are, and which have been loaded.
class Files
  def initialize(files)
    @files, @loaded = files, []
  end

  # Of a cookbook that is not here nothing is there to be loaded.
  def loaded_fully_qualified_attribute?(cookbook, file)
    @loaded.include?([cookbook.to_s, file.to_s]) || @files.none? { |one,| one == cookbook.to_s }
  end

  def loaded_attribute(cookbook, file)
    @loaded << [cookbook.to_s, file.to_s]
  end

  def resolve_attribute(cookbook, file)
    found = @files.find { |one, name,| one == cookbook.to_s && name == file.to_s }
    found ? found[2] : raise("no attribute file #{file}")
  end

  def events
    @events ||= Class.new { def method_missing(*) = nil; def respond_to_missing?(*) = true }.new
  end
end

def answer(asked)
  node = Chef::Node.new
  node.name("n1")
  node.automatic_attrs = asked["facts"] ? JSON.parse(File.read(asked["facts"])) : {}
  node.run_context = Files.new(asked["files"])
  failed = {}
  loading = lambda do |file, &load|
    load.call
  rescue ScriptError, StandardError, SystemStackError => error
    failed[file] = "#{error.class}: #{error.message[0, 200]}"
  end
  asked["libraries"].each { |file| loading.call(file) { TOPLEVEL_BINDING.eval(File.read(file), file, 1) } }
  asked["files"].each do |cookbook, name, file|
    next if node.run_context.loaded_fully_qualified_attribute?(cookbook, name)

    node.run_context.loaded_attribute(cookbook, name)
    loading.call(file) { node.from_file(file) }
  end
  levels = asked["levels"].to_h { |level| [level, level_of(node.attributes.public_send(level))] }.reject { |_, tree| tree.empty? }
  { "levels" => levels, "failed" => failed }
end

serve { |asked| answer(asked) }
