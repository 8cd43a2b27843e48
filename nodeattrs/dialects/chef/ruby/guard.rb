# frozen_string_literal: true

# What files of a repository do not get: commands, connections, and more memory than a run needs.
#
# It is no sandbox: a program that means harm finds a way around. It keeps this machine's answers out of a node's
# attributes, and says where it did.
module Guard
  MOST_BYTES = 2 << 30
  CONNECTING = { "TCPSocket" => %w[new open], "TCPServer" => %w[new open], "UDPSocket" => %w[new open],
                 "UNIXSocket" => %w[new open], "UNIXServer" => %w[new open],
                 "Socket" => %w[new open tcp udp unix getaddrinfo gethostbyname], "IPSocket" => %w[getaddress],
                 "Addrinfo" => %w[getaddrinfo tcp udp] }.freeze

  # What a file asked for is not done here; what it would do from there on is not known.
  class NotDone < Exception; end

  module Commands
    WORDS = %i[system ` spawn exec].freeze
    WORDS.each { |name| define_method(name) { |*given, **| Guard.refuse(Guard.shown(name, given)) } }
    private(*WORDS)
  end

  # `open` starts a command where its name begins with a bar.
  module Piping
    def open(name, *others, **named, &block)
      Guard.refuse(Guard.shown("open", [name])) if name.to_s.start_with?("|")
      super
    end
    private :open
  end

  # So do the readers of IO itself.
  module PipingReaders
    %i[binread binwrite foreach read readlines write].each do |word|
      define_method(word) do |name, *others, **named, &block|
        Guard.refuse(Guard.shown("IO.#{word}", [name])) if equal?(IO) && name.to_s.start_with?("|")
        super(name, *others, **named, &block)
      end
    end
  end

  class << self
    def close
      Process.setrlimit(Process::RLIMIT_AS, MOST_BYTES)
      Process.setrlimit(Process::RLIMIT_CORE, 0)
      Object.prepend(Commands)
      open_commands = Commands.dup.module_eval { public(*Commands::WORDS) && self }
      [Kernel, Process].each { |one| one.singleton_class.prepend(open_commands) }
      IO.singleton_class.prepend(PipingReaders, refusing("IO", %w[popen]))
      Object.prepend(Piping)
      Kernel.singleton_class.prepend(Piping.dup.module_eval { public(:open) && self })
    end

    # Of the library that was just loaded: its classes connect to nothing.
    def close_sockets
      return if @closed || !Object.const_defined?(:BasicSocket)

      @closed = true
      CONNECTING.each do |name, words|
        Object.const_get(name).singleton_class.prepend(refusing(name, words))
      end
    end

    def refusing(name, words)
      Module.new do
        words.each { |word| define_method(word) { |*given, **, &_| Guard.refuse(Guard.shown("#{name}.#{word}", given)) } }
      end
    end

    def refuse(what)
      Wire.note("refused", what, *Wire.place)
      raise NotDone, "#{what} is not done here"
    end

    def shown(name, given)
      "#{name}(#{given.map(&:inspect).join(", ")})"[0, 2000]
    end
  end
end

module Mixlib
  # What `node.logger` gives: it logs as Chef::Log does.
  module Log
    class Child
      def method_missing(word, ...)
        Chef::Log.public_send(word, ...)
      end

      def respond_to_missing?(word, all = false)
        Chef::Log.respond_to?(word, all)
      end
    end
  end

  # Commands of a recipe: none is run.
  class ShellOut
    def initialize(*given, **)
      Guard.refuse(Guard.shown("shell_out", given))
    end
  end
end
