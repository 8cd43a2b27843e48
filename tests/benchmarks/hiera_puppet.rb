# Puppet's own figures: the processor seconds of one lookup of each kind, files parsed and warm, as JSON.
require 'json'
require 'puppet'

home, inputs, rounds = ARGV
Puppet::Util::Log.level = :emerg
Puppet.initialize_settings(
  ['--confdir', home, '--vardir', home, '--codedir', home, '--logdir', home, '--rundir', home, '--publicdir', home,
   '--ssldir', home]
)
FACTS = JSON.parse(File.read(File.join(inputs, 'facts.json')))

def environments(folder)
  loader = Puppet::Environments::Directories.new(File.join(folder, 'environments'), [])
  environment = loader.get(:production).override_with(modulepath: [])
  Puppet.override(environments: loader, current_environment: environment) { yield environment }
end

# A fresh node's top scope.
def in_scope(environment, more = {})
  facts = FACTS.merge(more)
  name = 'web01.example.com'
  node = Puppet::Node.new(name, environment: environment, facts: Puppet::Node::Facts.new(name, facts))
  node.merge(facts)
  node.trusted_data = {
    'authenticated' => 'local', 'certname' => name, 'hostname' => 'web01', 'domain' => 'example.com',
    'extensions' => {}, 'external' => {}
  }
  compiler = Puppet::Parser::Compiler.new(node)
  Puppet.override(compiler.context_overrides) do
    compiler.send(:set_node_parameters)
    yield compiler.topscope
  end
end

def seconds
  start = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
  yield
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - start
end

def best(rounds)
  GC.start
  Array.new(rounds) { yield }.min
end

rounds = rounds.to_i
figures = {}
keys = JSON.parse(File.read(File.join(inputs, 'first', 'queries.json')))['keys']
missing = { 'default_value' => nil }

environments(File.join(inputs, 'first')) do |environment|
  ask = ->(scope, some) { some.each { |key| scope.call_function('lookup', [key, missing]) } }
  in_scope(environment) { |scope| ask.call(scope, keys) }
  figures['first'] = best(rounds) do
    in_scope(environment) do |scope|
      ask.call(scope, keys.first(1))
      seconds { ask.call(scope, keys) } / keys.size
    end
  end
  figures['nodes'] = best(rounds) do
    seconds do
      100.times { |at| in_scope(environment, 'serial' => at) { |scope| ask.call(scope, keys[at * 15, 50]) } }
    end
  end
end
{ 'deep' => 'tree', 'unique' => 'list' }.each do |merge, key|
  environments(File.join(inputs, merge)) do |environment|
    call = ->(scope) { scope.call_function('lookup', [key, { 'merge' => merge }]) }
    in_scope(environment) { |scope| call.call(scope) }
    figures[merge] = best(rounds) do
      in_scope(environment) do |scope|
        call.call(scope)
        seconds { 5.times { call.call(scope) } } / 5
      end
    end
  end
end
puts JSON.generate(figures)
