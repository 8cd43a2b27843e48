# Asks real Puppet: one JSON object a line in (a manifest, a modulepath, facts), the catalog that it compiles, the edges
# of its relationships and the order in which it would visit the resources out. Nothing is applied.
require 'json'
require 'puppet'

home = File.expand_path(ARGV.fetch(0))
Puppet.initialize_settings(
  %w[confdir vardir codedir logdir rundir publicdir ssldir].flat_map { |name| ["--#{name}", home] }
)
Puppet::Util::Log.level = :crit
# Every provider will do, as nothing is looked at.
Puppet::Type.prepend(Module.new { def suitable? = true })
Puppet::Graph::RelationshipGraph.prepend(Module.new do
  def replace_containers_with_anchors(catalog)
    $edges = edges.map { |edge| [edge.source.ref, edge.target.ref, edge.callback ? 'refresh' : 'order'] }
    super
  end
end)

def order_of(graph)
  visited = []
  graph.traverse(canceled_resource_handler: ->(_) {}, overly_deferred_resource_handler: ->(_) {}) do |resource|
    visited << resource.ref unless resource.is_a?(Puppet::Type.type(:whit))
  end
  visited
end

def answer(task)
  environment = Puppet::Node::Environment.create(:production, task['modulepath'])
  node = Puppet::Node.new(
    task['node'], environment: environment, facts: Puppet::Node::Facts.new(task['node'], task['facts'])
  )
  node.merge(task['facts'])
  Puppet[:code] = task['manifest']
  Puppet.override(current_environment: environment, loaders: Puppet::Pops::Loaders.new(environment)) do
    compiled = Puppet::Parser::Compiler.compile(node)
    begun = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    catalog = compiled.to_ral
    catalog.finalize
    order = order_of(catalog.relationship_graph)
    spent = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - begun
    { 'catalog' => JSON.parse(compiled.to_resource.to_json), 'edges' => $edges, 'order' => order, 'seconds' => spent }
  end
end

$stdin.each_line do |line|
  task = JSON.parse(line)
  begin
    told = answer(task)
  rescue StandardError, LoadError => e
    told = { 'error' => "#{e.class}: #{e.message}"[0, 600] }
  end
  puts JSON.generate(told)
  $stdout.flush
end
