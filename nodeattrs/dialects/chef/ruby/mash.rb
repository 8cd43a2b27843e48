# frozen_string_literal: true

# What maps of attributes have in common: texts and symbols as one key, paths, deferred values, Chef's own errors.
class Mash < Hash
  alias put []=
  alias get []
  alias there? key?
  alias empty_out clear

  def self.name
    equal?(Mash) ? "ChefUtils::Mash" : super
  end

  def self.from_hash(map)
    new(map)
  end

  def initialize(map = nil)
    super()
    map.each { |key, value| put(convert_key(key), convert_value(value)) } if map.is_a?(Hash)
  end

  def [](key)
    get(convert_key(key))
  end

  def []=(key, value)
    put(convert_key(key), convert_value(value))
  end
  alias store []=

  def update(*maps)
    maps.each { |map| map.each_pair { |key, value| put(convert_key(key), convert_value(value)) } }
    self
  end
  alias merge! update

  def key?(key)
    there?(convert_key(key))
  end
  alias has_key? key?
  alias include? key?
  alias member? key?

  def fetch(key, *others, &block)
    super(convert_key(key), *others, &block)
  end

  def values_at(*keys)
    keys.map { |key| self[key] }
  end

  def merge(*maps)
    dup.update(*maps)
  end

  def dup
    Mash.new(self)
  end

  def delete(key, &block)
    super(convert_key(key), &block)
  end

  def except(*keys)
    keys.each_with_object(dup) { |key, left| left.delete(key) }
  end

  def to_hash
    {}.merge(self)
  end

  def symbolize_keys
    to_hash.transform_keys(&:to_sym)
  end

  def stringify_keys!
    self
  end

  private

  def convert_key(key)
    key.is_a?(Symbol) ? key.to_s : key
  end

  def convert_value(value)
    return Mash.new(value) if value.instance_of?(Hash)

    value.is_a?(Array) ? value.map { |one| convert_value(one) } : value
  end
end

class Chef
  # A value that is computed each time it is read.
  class DelayedEvaluator < Proc
    @known = []

    def self.known
      @known
    end

    # What the node at the other end knows it by; from then on it is kept.
    def number
      @number ||= DelayedEvaluator.known.push(self).size - 1
    end

    def self.value_of(value)
      value = value.call while value.is_a?(DelayedEvaluator)
      value
    end
  end

  # One that the node at the other end computes.
  class DelayedElsewhere < DelayedEvaluator; end

  class Exceptions
    class ImmutableAttributeModification < NoMethodError
      def initialize
        super("Node attributes are read-only when you do not specify which precedence level to set")
      end
    end
    class NoSuchAttribute < ArgumentError; end
    class AttributeTypeMismatch < RuntimeError; end

    def self.const_missing(name)
      const_set(name, Class.new(RuntimeError))
    end
  end

  class Node
    # Reading at a path, for whoever knows whether one leads somewhere; it makes nothing.
    module Reading
      def read(*path)
        read!(*path)
      rescue Exceptions::NoSuchAttribute
        nil
      end

      def dig(*path)
        read(*path)
      end

      def read!(*path)
        raise Exceptions::NoSuchAttribute, path.join(".") unless exist?(*path)

        path.inject(self) { |here, key| here[key] }
      end
    end

    # Paths in maps and lists: reading, and writing that makes all.
    module Paths
      include Reading

      def exist?(*path)
        Paths.lead?(self, path)
      end

      # A key as a node has it.
      def self.step(key)
        return key if key.is_a?(String) || key.is_a?(Integer)
        raise ArgumentError, "a key is text or a whole number, and not #{key.inspect[0, 40]}" unless key.is_a?(Symbol)

        key.to_s
      end

      # Whether there is something at a path below a value.
      def self.lead?(value, path)
        path.inject(value) do |here, key|
          return false unless holds?(here, key) && (here.is_a?(Hash) ? here.key?(key) : here.length > key)

          here[key]
        end
        true
      end

      def self.holds?(here, key)
        here.is_a?(Hash) || (here.is_a?(Array) && key.is_a?(Integer))
      end

      def write(*path, &block)
        written(path, block) do |above, key|
          above[key] = {}
          above[key]
        end
      end

      def write!(*path, &block)
        written(path, block) { raise Exceptions::AttributeTypeMismatch }
      end

      def unlink(*path, last)
        here = path.empty? ? self : read(*path)
        here.delete(last) if here.is_a?(Hash) || here.is_a?(Array)
      end

      def unlink!(*path)
        raise Exceptions::NoSuchAttribute, path.join(".") unless exist?(*path)

        unlink(*path)
      end

      private

      def written(path, block)
        value = block ? block.call : path.pop
        above = before = nil
        here = self
        path.each_with_index do |key, index|
          here = yield(above, before) unless Paths.holds?(here, key)
          return here[key] = value if index == path.size - 1

          above, before = here, key
          here = here[key]
        end
      end
    end
  end
end
