# frozen_string_literal: true

# Lines of JSON to the node and back: what is noted without waiting, what is asked, and values as they travel.
#
# It knows no attributes. Whoever asks may be asked in turn before the answer comes: an included file is
# run, a deferred value computed.
require "json"

module Wire
  HERE = File.dirname(File.expand_path(__FILE__)) + "/"
  MOST_WAITING = 65_536
  class Refused < StandardError
    attr_accessor :number
  end

  class << self
    attr_accessor :serve
    attr_reader :root

    def open(input, output)
      @input, @output, @waiting, @files, @process = input, output, +"", {}, Process.pid
      @writer = JSON::State.new(max_nesting: 0)
    end

    # Messages

    # Note something that needs no answer; it goes out with the next question, or when there is enough of it.
    def note(*message)
      @waiting << @writer.generate(message) << "\n"
      flush if @waiting.bytesize > MOST_WAITING
    end

    # A process that a file has forked is not the node's: it says nothing, and ends here.
    def flush
      exit!(0) unless Process.pid == @process
      @output.write(@waiting)
      @output.flush
      @waiting = +""
    end

    def ask(*message)
      Chef::Node::Levels.settle
      note("ask", *message)
      flush
      loop do
        kind, *rest = receive
        case kind
        when "answer", "refuse"
          Chef::Node::RUNNING.forget if rest.pop
          raise refused(*rest) if kind == "refuse"
          return rest[0]
        else serve.call(kind, *rest)
        end
      end
    end

    def receive
      line = @input.gets
      exit!(0) if line.nil?
      JSON.parse(line, max_nesting: false)
    end

    # Places

    def begin_in(root)
      @root, @process = File.join(root, ""), Process.pid
    end

    # Note that a file is an attribute file or a recipe: it is where its values are set, whatever it calls.
    def attribute_file(path)
      @files[path] = true
    end

    # Whether a file is an attribute file or a recipe.
    def ran?(path)
      @files.key?(path)
    end

    # Whether a file is one of the repository, or of a cookbook elsewhere that is run.
    def knows?(path)
      !path.nil? && (@files.key?(path) || path.start_with?(@root))
    end

    # File and line that set something: of the attribute file or recipe, else of the repository's file that called.
    def place(from = nil)
      near = from || caller_locations(2, 6)
      first = near.find { |one| !one.path.start_with?(HERE) }
      return [first.path, first.lineno] if first && @files.key?(first.path)

      all = from || caller_locations(2)
      found = all.find { |one| @files.key?(one.path) } || all.find { |one| one.path.start_with?(@root) }
      found ? [found.path, found.lineno] : [nil, nil]
    end

    # File and line of the repository that says something, whatever it was called by.
    def here
      found = caller_locations(2).find { |one| one.path.start_with?(@root) }
      found ? [found.path, found.lineno] : place
    end

    # Values

    def pack(value)
      case value
      when String, Integer, nil, true, false then value
      when Hash then pack_map(value)
      when Array then value.map { |one| pack(one) }
      when Symbol then { "$sym" => value.to_s }
      when Chef::DelayedElsewhere then pack(value.call)
      when Chef::DelayedEvaluator then { "$lazy" => value.number }
      when Float
        raise ArgumentError, "#{value} cannot be an attribute" unless value.finite?
        value
      else
        note("odd", value.class.to_s, *place)
        value.to_s
      end
    end

    # What a packed value is: its maps and lists made by the given classes.
    def unpack(value, map, list)
      case value
      when Hash
        if value.size == 1 && (special = value.first)[0].start_with?("$")
          return unpack_special(*special, map, list)
        end
        value.each_with_object(map.new) { |(key, one), made| made.put(key, unpack(one, map, list)) }
      when Array then value.each_with_object(list.new) { |one, made| made.put(unpack(one, map, list)) }
      when String then map == Chef::Node::ImmutableMash ? value.freeze : value
      else value
      end
    end

    private

    def pack_map(map)
      pairs = map.map { |key, one| [key.is_a?(Symbol) ? key.to_s : key, pack(one)] }
      return pairs.to_h if pairs.all? { |key, _| key.is_a?(String) && !key.start_with?("$") }

      { "$map" => pairs }
    end

    def unpack_special(name, content, map, list)
      case name
      when "$sym" then content.to_sym
      when "$lazy" then Chef::DelayedEvaluator.known[content]
      when "$later" then Chef::DelayedElsewhere.new { Wire.unpack(Wire.ask("read", content, nil, nil), map, list) }
      else content.each_with_object(map.new) { |(key, one), made| made.put(key, unpack(one, map, list)) }
      end
    end

    def refused(name, message, number)
      error = Refused.new("#{name}: #{message}")
      error.number = number
      error
    end
  end
end
