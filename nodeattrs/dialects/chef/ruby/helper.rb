# frozen_string_literal: true

# Runs attribute files in Ruby for a node that lives at the other end of a pipe.
#
#   ruby helper.rb
#
# It reads and writes lines of JSON. For each node it makes a process of its own, so that nothing that one node's
# files leave behind in Ruby is there for the next.
input, output = $stdin.dup, $stdout.dup
$stdin.reopen(File::NULL)
$stdout.reopen($stderr)
[input, output].each { |one| one.set_encoding(Encoding::UTF_8) }
require_relative "wire"
require_relative "guard"
require_relative "node"
require_relative "recipes"
require_relative "lines"
Wire.open(input, output)

module Helper
  RUNS = {
    "described" => lambda do |given|
      require_relative "described"
      Described.read(*given)
    end,
    "library" => ->(path) { TOPLEVEL_BINDING.eval(File.read(path, encoding: "UTF-8"), path, 1) },
    "file" => lambda do |path|
      Wire.attribute_file(path)
      Wire.note("lines", path, Lines.of(File.read(path, encoding: "UTF-8")))
      Chef::Node::RUNNING.from_file(path)
    end,
    "recipe" => lambda do |(path, cookbook, recipe, started)|
      Chef::RunContext::RUNNING.started(started)
      Wire.attribute_file(path)
      Wire.note("lines", path, Lines.of(File.read(path, encoding: "UTF-8")))
      Chef::Recipe.new(cookbook.to_sym, recipe).from_file(path)
    end,
    "resources" => ->((path, cookbook)) { Chef::Resource.load_file(path, cookbook) },
    "definitions" => ->(given) { Chef::RunContext::RUNNING.from_file(given[0]) },
    "lazy" => lambda do |number|
      Wire.pack(Chef::DelayedEvaluator.known.fetch(number).call)
    end
  }.freeze

  class << self
    # Do what is asked; what it came to, or what went wrong and where.
    def serve(kind, subject, stale = false)
      Chef::Node::RUNNING.forget if stale
      answer = RUNS.fetch(kind).call(subject)
      finish("done", %w[lazy described].include?(kind) ? answer : nil)
    rescue Guard::NotDone => error # what it leaves open was noted where it was asked for
      %w[file recipe].include?(kind) ? finish("done") : failed(error)
    rescue Exception => error # a file may raise any
      failed(error)
    end

    def serve_node(given)
      Wire.begin_in(given["root"])
      Chef::Node::RUNNING.begin_as(given)
      Chef::RunContext::RUNNING.begin_as(given["cookbooks"] || {})
      Guard.close
      Wire.note("ready")
      Wire.flush
      loop do
        kind, *rest = Wire.receive
        exit!(0) if kind == "end"
        serve(kind, *rest)
      end
    end

    # Serve one node in a process of its own, to its end; why it ended.
    def serve_in_child(given)
      child = fork do
        serve_node(given)
      rescue StandardError, NoMemoryError => error
        Wire.note("ended", "#{error.class}: #{error.message}"[0, 2000].scrub)
        Wire.flush
        exit!(1)
      end
      Process.wait(child)
      $?.signaled? ? "signal #{$?.termsig}" : "exit code #{$?.exitstatus}"
    rescue SystemCallError => error # of fork
      error.message
    end

    private

    def finish(*message)
      Chef::Node::Levels.settle(true)
      Wire.note(*message)
      Wire.flush
    end

    def failed(error)
      finish("failed", error.class.name.to_s, message_of(error)[0, 2000].scrub, *where(error), number_of(error))
    end

    # Ruby before 3.4 writes into it what the receiver holds, which may be a secret.
    def message_of(error)
      text = error.message
      begins = text[/\A[\w ]+ [`'][^']*'(?: called)? for /] if error.is_a?(NameError)
      begins ? begins + sort_of(error.receiver) : text
    rescue ArgumentError # without a receiver
      text
    end

    def sort_of(receiver)
      return receiver.inspect if [nil, true, false].include?(receiver)

      receiver.is_a?(Module) ? "#{receiver.class.name.downcase} #{receiver}" : "an instance of #{receiver.class}"
    end

    def where(error)
      found = error.message.match(/\A(\S[^:\n]*):(\d+): /) if error.is_a?(SyntaxError)
      return [found[1], found[2].to_i] if found && found[1].start_with?(Wire.root)

      Wire.place(error.backtrace_locations || [])
    end

    def number_of(error)
      error.number if error.is_a?(Wire::Refused)
    end
  end
end

Wire.serve = Helper.method(:serve)
loop do
  kind, given = Wire.receive
  next unless kind == "begin" # "end", for a process that had ended before

  Wire.note("ended", Helper.serve_in_child(given))
  Wire.flush
end
