# frozen_string_literal: true

# Runs data functions of Puppet for lookups that live at the other end of a pipe.
#
#   ruby functions.rb
#
# It reads and writes lines of JSON, and has stand-ins for the part of Puppet that data functions use. What a function
# needs beyond them is `Lacks`, which no rescue of a function catches.
require "json"
require "yaml"
INPUT, OUTPUT = $stdin.dup, $stdout.dup
$stdin.reopen(File::NULL)
$stdout.reopen($stderr)
[INPUT, OUTPUT].each { |one| one.set_encoding(Encoding::UTF_8) }

class Lacks < Exception; end

# The expression that the function wants filled in cannot be.
class Stop < Exception; end

# Makes each method and constant that is not here `Lacks`.
module Missing
  def method_missing(name, *)
    raise Lacks, [(is_a?(Module) ? self : self.class).name, name].compact.join(".")
  end

  def respond_to_missing?(*)
    false
  end

  def const_missing(name)
    raise Lacks, "#{self}::#{name}"
  end
end

def Object.const_missing(name)
  raise Lacks, "the constant #{name}"
end

module Puppet
  extend Missing

  class Error < RuntimeError; end
  class ParseError < Error; end

  class << self
    attr_accessor :strict

    def [](name)
      name.to_sym == :strict ? strict : raise(Lacks, "Puppet[:#{name}]")
    end

    %i[debug info notice warning err].each { |word| define_method(word) { |*| nil } }
  end

  module DataBinding
    extend Missing
    class LookupError < Error; end
  end

  module Util
    extend Missing

    module Yaml
      extend Missing
      class YamlLoadError < Error; end

      def self.safe_load(text, classes = [], file = nil)
        YAML.safe_load(text, permitted_classes: classes, aliases: true, filename: file) || false
      rescue ::Psych::SyntaxError, ::Psych::DisallowedClass => e
        raise YamlLoadError, "(#{file}): #{e.message}"
      end
    end
  end

  module Functions
    extend Missing

    # The types of the parameters of one dispatch.
    class Dispatch
      include Missing
      attr_reader :types

      def initialize
        @types = []
      end

      def param(type, _name)
        @types << type
      end
      alias required_param param
    end

    # What a function inherits from.
    class Function
      include Missing

      class << self
        include Missing

        def dispatches
          @dispatches ||= []
        end

        def dispatch(method, &block)
          found = Dispatch.new
          found.instance_eval(&block)
          dispatches << [method, found.types]
        end
      end

      def _(text)
        text
      end
    end

    KNOWN = {}

    def self.create_function(name, base = nil, &block)
      raise Lacks, base.to_s if base

      KNOWN[name.to_s] = Class.new(Function, &block)
    end
  end
end

# What a function is given to ask with, one for each level and location of a node.
class Context
  include Missing
  FILES = {}
  attr_reader :environment_name, :kept

  def initialize(environment)
    @environment_name = environment
    @cache = {}
    @kept = {}
  end

  def not_found
    throw :no_such_key
  end

  def explain
    nil
  end

  def interpolate(value)
    Wire.interpolate(value)
  end

  def cache(key, value)
    @cache[key] = value
  end

  def cache_all(entries)
    @cache.merge!(entries)
    nil
  end

  def cache_has_key(key)
    @cache.include?(key)
  end

  def cached_value(key)
    @cache[key]
  end

  def cached_entries(&block)
    @cache.each_pair(&block)
  end

  def cached_file_data(path)
    stat = File.stat(path)
    mark = [stat.ino, stat.mtime, stat.size]
    known, data = FILES[path]
    return data if known == mark

    content = File.read(path, encoding: "UTF-8")
    data = block_given? ? yield(content) : content
    FILES[path] = [mark, data]
    data
  end
end

module Wire
  class << self
    def receive
      line = INPUT.gets
      exit!(0) if line.nil?
      JSON.parse(line, max_nesting: false)
    end

    def say(*message)
      OUTPUT.write(JSON.generate(message, max_nesting: false) << "\n")
      OUTPUT.flush
    end

    def interpolate(value)
      say("interpolate", packed(value))
      loop do
        word, *given = receive
        return given[0] if word == "filled"
        raise Stop if word == "stop"

        say(*ask(*given))
      end
    end

    # What a lookup comes to: a value, that there is none, or why it is not known.
    def ask(node, place, name, file, environment, strict, arguments)
      Puppet.strict = strict.to_sym
      @contexts, @node = {}, node if @node != node
      context = @contexts[place] ||= Context.new(environment)
      catch(:no_such_key) do
        kept = context.kept
        kept[arguments] = packed(call(function(name, file), arguments, context)) unless kept.include?(arguments)
        return ["value", kept[arguments]]
      end
      ["absent"]
    rescue Stop
      ["stopped"]
    rescue Lacks, LoadError => e
      ["lacks", e.message[0, 500].scrub]
    rescue Exception => e # a function may raise any
      ["failed", "#{e.class}: #{e.message}"[0, 2000].scrub]
    end

    private

    def function(name, file)
      TOPLEVEL_BINDING.eval(File.read(file, encoding: "UTF-8"), file, 1) unless Puppet::Functions::KNOWN.include?(name)
      Puppet::Functions::KNOWN.fetch(name) { raise Lacks, "a function #{name} in #{file}" }
    end

    def call(function, arguments, context)
      raise Lacks, "a dispatch" if function.dispatches.empty?

      say("dispatches", function.dispatches.map(&:last))
      chosen = receive.last
      raise Lacks, chosen if chosen.is_a?(String)
      raise ArgumentError, "no dispatch takes these arguments" if chosen.nil?

      function.new.public_send(function.dispatches[chosen].first, *arguments, context)
    end

    def packed(value)
      case value
      when nil, true, false, Integer then value
      when Float then value.finite? ? value : raise(Lacks, "a float without an end")
      when String then value.encode(Encoding::UTF_8).tap { |text| raise Lacks, "bytes" unless text.valid_encoding? }
      when Array then value.map { |one| packed(one) }
      when Hash
        raise Lacks, "keys that are no texts" unless value.keys.all?(String)

        value.to_h { |key, one| [packed(key), packed(one)] }
      else raise Lacks, "a #{value.class}"
      end
    end
  end
end

loop { Wire.say(*Wire.ask(*Wire.receive.drop(1))) }
