# The processor seconds of Puppet's visiting of so many resources that change nothing.
require 'puppet'
require 'tmpdir'

count = Integer(ARGV.fetch(0))
Dir.mktmpdir do |home|
  Puppet::Util::Log.level = :emerg
  Puppet.initialize_settings(
    %w[confdir vardir codedir logdir rundir publicdir ssldir].flat_map { |name| ["--#{name}", home] }
  )
  Puppet::Type.newtype(:idle) do
    newparam(:name) { isnamevar }
    newproperty(:state) do
      def retrieve
        'on'
      end
    end
  end
  $spent = 0.0
  Puppet::Graph::RelationshipGraph.prepend(Module.new do
    def traverse(...)
      began = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
      super
    ensure
      $spent = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - began
    end
  end)
  catalog = Puppet::Resource::Catalog.new('here')
  count.times { |number| catalog.add_resource(Puppet::Type.type(:idle).new(name: "r#{number}", state: 'on')) }
  catalog.apply
  puts $spent
end
