# Asks real Puppet: one JSON object a line in (a manifest, settings), what compiling and applying it did out.
require 'json'
require 'puppet'

home = File.expand_path(ARGV.fetch(0))
Puppet.initialize_settings(
  %w[confdir vardir codedir logdir rundir publicdir ssldir].flat_map { |name| ["--#{name}", home] }
)

%i[pkg cfg svc job].each do |kind|
  Puppet::Type.newtype(kind) do
    newparam(:name) { isnamevar }
    newparam(:note)
    %i[refreshable refresh_fails check_fails].each { |flag| newparam(flag, boolean: true) { newvalues(:true, :false) } }
    %i[require subscribe before notify].each { |relation| newparam(:"auto_#{relation}") }
    %i[changes fails].each do |flag|
      newproperty(flag) do
        newvalues(:true, :false)
        def retrieve
          raise Puppet::Error, 'check failed' if resource[:check_fails] == :true

          :no
        end

        def insync?(_is)
          should == :false
        end

        define_method(:set) { |_value| raise Puppet::Error, 'it cannot be changed' if flag == :fails }
      end
    end
    newproperty(:there) do
      def retrieve
        raise Puppet::Error, 'check failed' if resource[:check_fails] == :true

        :true
      end

      def insync?(_is)
        true
      end
      defaultto :true
    end

    def initialize(*arguments)
      super
      return unless self[:refreshable] == :true

      define_singleton_method(:refresh) do
        $refreshed[ref] = ($refreshed[ref] || 0) + 1
        raise Puppet::Error, 'refresh failed' if self[:refresh_fails] == :true
      end
    end
  end
end

Puppet::Transaction.prepend(Module.new do
  def eval_resource(resource, *rest)
    $order << resource.ref unless resource.is_a?(Puppet::Type.type(:whit))
    super
  end
end)

def status_of(status)
  words = []
  words << 'changed' if status.changed
  words << 'failed' if status.failed
  words << 'skipped' if status.skipped
  words << 'restarted' if status.restarted
  words << 'failed_to_restart' if status.failed_to_restart
  words << 'noop' if status.events.any? { |event| event.status == 'noop' && event.name.to_s != 'restarted' }
  words.sort
end

def answer(task)
  $refreshed = {}
  $order = []
  Puppet[:noop] = task['noop']
  Puppet[:code] = task['manifest']
  environment = Puppet::Node::Environment.create(:production, [])
  node = Puppet::Node.new('here', environment: environment)
  compiled = Puppet.override(current_environment: environment) { Puppet::Parser::Compiler.compile(node) }
  $compiled = JSON.parse(compiled.to_json)
  catalog = Puppet.override(current_environment: environment) { compiled.to_ral }
  transaction = nil
  begin
    catalog.apply { |one| transaction = one }
  rescue Puppet::Error => e
    return { 'error' => e.message, 'cycle' => $cycle }
  end
  kinds = %w[Pkg Cfg Svc Job]
  mine = ->(ref) { kinds.include?(ref[/\A\w+/]) }
  statuses = transaction.report.resource_statuses.select { |ref, _| mine.call(ref) }
  { 'order' => $order.select(&mine), 'status' => statuses.transform_values { |one| status_of(one) },
    'refreshed' => $refreshed }
end

$cycle = nil
Puppet.singleton_class.prepend(Module.new do
  def err(message, *rest)
    $cycle = message if message.to_s.include?('dependency cycle')
    super
  end
end)
Puppet::Util::Log.level = :crit

$stdin.each_line do |line|
  $cycle = $compiled = nil
  begin
    told = answer(JSON.parse(line))
  rescue StandardError => e
    told = { 'error' => e.message, 'cycle' => $cycle }
  end
  puts JSON.generate(told.merge('catalog' => $compiled))
  $stdout.flush
end
