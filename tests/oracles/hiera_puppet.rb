# Asks real Puppet: one JSON object a line in (a folder with a tree, a node, its facts, calls), one list of answers out.
require 'json'
require 'puppet'

Puppet::Util::Log.level = :emerg
home = ARGV.fetch(0)
Puppet.initialize_settings(
  ['--confdir', home, '--vardir', home, '--codedir', home, '--logdir', home, '--rundir', home, '--publicdir', home,
   '--ssldir', home]
)

# The compiler's top scope, ready to look keys up: what a catalog's compilation does before it reads any manifest.
def in_scope(task)
  root = task['root']
  Puppet[:hiera_config] = File.join(root, 'global', 'hiera.yaml')
  Puppet[:basemodulepath] = ''
  environments = Puppet::Environments::Directories.new(task['environmentpath'] || File.join(root, 'environments'), [])
  Puppet.override(environments: environments) { yield_in(environments, task) { |scope| yield scope } }
end

def yield_in(environments, task)
  found = environments.get(task['environment'].to_sym)
  modules = [File.join(task['root'], 'environments', task['environment'], 'modules')]
  modules = found.full_modulepath if task['modules'] == 'conf'
  # Neither a manifest nor the script of config_version is run.
  environment = Puppet::Node::Environment.create(found.name, modules)
  Puppet.override(current_environment: environment) do
    node = Puppet::Node.new(
      task['node'], environment: environment, facts: Puppet::Node::Facts.new(task['node'], task['facts'])
    )
    node.merge(task['facts'])
    (task['variables'] || {}).each { |name, value| node.parameters[name] = value }
    hostname, domain = task['node'].split('.', 2)
    node.trusted_data = task['trusted'] || {
      'authenticated' => 'local', 'certname' => task['node'], 'hostname' => hostname, 'domain' => domain,
      'extensions' => {}, 'external' => {}
    }
    compiler = Puppet::Parser::Compiler.new(node)
    Puppet.override(compiler.context_overrides) do
      compiler.send(:set_node_parameters)
      (task['stubs'] || {}).each { |name, kind| stub(compiler, name, kind) }
      yield compiler.topscope
    end
  end
end

# An empty level in the place of a function that nobody has; those of modules are not run.
def stub(compiler, name, kind)
  function = Puppet::Functions.create_function(name.to_sym) do
    define_method(name) { |*asked| kind == 'data_hash' ? {} : asked.last.not_found }
  end
  loader = compiler.loaders.puppet_system_loader
  loader.set_entry(Puppet::Pops::Loader::TypedName.new(:function, name), function.new(nil, loader))
end

def arguments(call)
  options = {}
  options['merge'] = call['merge'] if call['merge']
  options['default_value'] = call['default_value'] if call.key?('default_value')
  type = call['value_type']
  options['value_type'] = Puppet::Pops::Types::TypeParser.singleton.parse(type) if type
  [call['name'], options]
end

# What Puppet answers if a merge never meets its own parts: arrays are copied where deep_merge meets a value with itself.
module CopyFirst
  def self.copied(value)
    case value
    when Hash then value.to_h { |key, entry| [key, copied(entry)] }
    when Array then value.map { |entry| copied(entry) }
    when String then value.dup
    else value
    end
  end

  def deep_merge!(source, dest, options = {})
    return super unless $copy_first

    super(CopyFirst.copied(source), $copy_first == :both ? CopyFirst.copied(dest) : dest, options)
  end

  def overwrite_unmergeables(source, dest, options)
    $copy_first ? CopyFirst.copied(super(CopyFirst.copied(source), dest, options)) : super
  end
end

require 'deep_merge/core'
DeepMerge.singleton_class.prepend(CopyFirst)

def answer(task, call, copy_first)
  $copy_first = copy_first
  in_scope(task) { |scope| answer_in(scope, call) }
end

def answer_in(scope, call)
  { 'value' => plain(scope.call_function('lookup', arguments(call))) }
rescue StandardError, SystemStackError, NotImplementedError => e
  { 'error' => "#{e.class}: #{e.message}".scrub[0, 300] }
end

def plain(value)
  case value
  when Puppet::Pops::Types::PSensitiveType::Sensitive then { '$sensitive' => plain(value.unwrap) }
  when Hash then value.to_h { |key, entry| [key.is_a?(String) ? key : "$#{key.class}:#{key}", plain(entry)] }
  when Array then value.map { |entry| plain(entry) }
  when Float then value.finite? ? value : { '$float' => value.to_s }
  when String then value.encoding == Encoding::UTF_8 && value.valid_encoding? || value.ascii_only? ? value : { '$bytes' => value.unpack1('H*') }
  when Integer, true, false, nil then value
  else { '$other' => value.class.name }
  end
end

$stdin.each_line do |line|
  task = JSON.parse(line)
  begin
    $copy_first = false
    answers = if task['fast'] # one compiler for all; what it leaks from lookup to lookup is asked again
                in_scope(task) { |scope| task['lookups'].map { |call| answer_in(scope, call) } }
              else
                task['lookups'].map do |call|
                  { 'as_is' => answer(task, call, false), 'copy_first' => answer(task, call, true),
                    'copy_both' => answer(task, call, :both) }
                end
              end
  rescue StandardError => e
    answers = { 'failed' => "#{e.class}: #{e.message}\n#{e.backtrace.first(3).join("\n")}" }
  end
  puts JSON.generate(answers)
  $stdout.flush
end
