# frozen_string_literal: true

# The node as an attribute file in Ruby sees it: levels to write to, merged attributes to read, and words.
#
# What is merged, and what roles and environments say, is asked of the node at the other end, and remembered until
# something changes.
require "delegate"
require_relative "from_file"
require_relative "levels"
require_relative "merged"
require_relative "platforms"
require_relative "stand_ins"

class Chef
  class Node
    include Enumerable
    include FromFile
    include Platforms
    include Reading

    LEVELS = %w[default env_default role_default force_default normal override role_override env_override force_override
                automatic].freeze

    # node.default!["a"]["b"] = 1: the steps, then the call that they are for.
    class Unchain < BasicObject
      def initialize(node, name, path = [])
        @node, @name, @path = node, name, path
      end

      def [](key)
        Unchain.new(@node, @name, @path + [key])
      end

      def []=(key, value)
        @node.public_send(@name, *@path, key, value)
      end
    end

    Mash = ::Mash # and not that of chef-utils, where it is installed

    # The node as `node.attributes` gives it.
    class Attribute < SimpleDelegator; end

    attr_reader :name, :chef_environment, :policy_name, :policy_group, :run_state, :run_list, :primary_runlist, :attributes
    alias environment chef_environment
    alias attribute attributes
    alias construct_attributes attributes

    def begin_as(given)
      @name, @chef_environment, @policy_name, @policy_group =
        given.values_at("name", "environment", "policy_name", "policy_group")
      @run_list, @primary_runlist = RunList.new(given["run_list"]), RunList.new(given["primary_runlist"] || given["run_list"])
      @attributes = Attribute.new(self)
      @run_state = {}
      @roots, @merged = {}, {}
    end

    # What is known of the node at the other end

    # Somebody else has written there.
    def forget
      @merged = {}
      Levels.forget(@roots.values)
    end

    # Something was written below a key.
    def changed(key)
      @merged.delete(key)
    end

    # What stands in a level, as it is at the other end.
    def level_now(level)
      Wire.unpack(Wire.ask("level", level, nil, nil), VividMash, AttrArray)
    end

    def to_s
      "node[#{name}]"
    end

    def override_runlist_set?
      run_list != primary_runlist
    end

    def run_list?(item)
      run_list.include?(item)
    end

    def node
      self
    end

    # Levels

    LEVELS.each do |level|
      define_method(level) { root(level) }
      define_method("#{level}=") { |map| replace_level(level, map) }
    end
    %w[default normal override automatic].each do |level|
      alias_method "#{level}_attrs", level
      alias_method "#{level}_attrs=", "#{level}="
    end

    %w[default normal override].each do |level|
      define_method("#{level}!") do |*path|
        path.empty? ? Unchain.new(self, "#{level}!") : full(level, path)
      end
      define_method("#{level}_unless") do |*path|
        next Unchain.new(self, "#{level}_unless") if path.empty?

        root = public_send(level)
        unset = root.read(*path[0...-1]).nil?
        unset ? note_path("unless", level, path) : note_silent(level, path)
        unset ? path[-1] : nil
      end
    end
    %w[default override].each do |level|
      define_method("force_#{level}!") do |*path|
        next Unchain.new(self, "force_#{level}!") if path.empty?

        ask_and_forget("force", "force_#{level}", plain(path[0...-1]), Wire.pack(path[-1]), *Wire.place)
        path[-1]
      end
    end

    # Paths of one level

    %w[write write! unlink unlink!].each do |name|
      define_method(name) { |level, *path, &block| public_send(level).public_send(name, *path, &block) }
    end

    %w[rm rm_default rm_normal rm_override].each do |name|
      define_method(name) do |*path|
        raise ArgumentError, "wrong number of arguments (given 0, expected 1+)" if path.empty?

        Wire.unpack(ask_and_forget(name, plain(path), *Wire.place), ::Mash, OwnArray)
      end
    end

    # The merged tree

    def [](key)
      key = key.to_s if key.is_a?(Symbol)
      return unless key.is_a?(String) || key.is_a?(Integer)

      Levels.settle if Levels.unsettled?
      value = @merged.fetch(key) do
        answer = Wire.ask("get", key, nil, nil)
        @merged[key] = Wire.unpack(answer, ImmutableMash, ImmutableArray)
      end
      DelayedEvaluator.value_of(value)
    end

    def key?(key)
      key = key.to_s if key.is_a?(Symbol)
      (key.is_a?(String) || key.is_a?(Integer)) && Wire.ask("has", key, nil, nil)
    end
    alias attribute? key?
    alias has_key? key?
    alias include? key?
    alias member? key?

    def read(*path)
      path.empty? ? merged_attributes : super
    end

    def exist?(first = nil, *path)
      first.nil? || (key?(first) && Paths.lead?(self[first], path))
    end

    def []=(*)
      raise Exceptions::ImmutableAttributeModification
    end

    def delete(*)
      raise Exceptions::ImmutableAttributeModification
    end

    def merged_attributes(*path)
      merged("merged", path)
    end

    %w[combined_default combined_override].each { |name| define_method(name) { |*path| merged(name, path) } }

    def debug_value(*path)
      LEVELS.map do |level|
        here = root(level)
        [level, here.exist?(*path) ? here.read!(*path) : :not_present]
      end
    end

    def each(&block)
      merged_attributes.each(&block)
    end
    alias each_attribute each

    def to_hash
      merged_attributes.to_hash
    end
    alias to_h to_hash

    READING = %i[keys values each_pair each_key each_value fetch length size empty? values_at to_a slice except].freeze

    def method_missing(name, *args, &block)
      return merged_attributes.public_send(name, *args, &block) if READING.include?(name)

      raise NoMethodError, "undefined method `#{name}' for #{inspect}"
    end

    def respond_to_missing?(name, all = false)
      READING.include?(name) || super
    end

    def inspect
      "#<Chef::Node #{name}>"
    end

    # Words

    def lazy(&block)
      DelayedEvaluator.new(&block)
    end

    def include_attribute(*names)
      names.flatten.each { |one| Wire.ask("include", one.to_s, *Wire.place) }
      true
    end

    def tags
      normal["tags"] = Array(normal["tags"])
      normal["tags"]
    end

    def tag(*names)
      names.each { |one| tags.push(one.to_s) unless tags.include?(one.to_s) }
      tags
    end

    def untag(*names)
      names.each { |one| tags.delete(one.to_s) }
      tags
    end

    # A recipe is among those that the node names.
    def loaded_recipe(cookbook, recipe)
      name = "#{cookbook}::#{recipe}"
      automatic["recipes"] << name unless [self["recipes"]].flatten.include?(name)
    end

    def save
      self
    end

    def logger
      Log.with_child
    end

    def tagged?(*names)
      names.flatten.all? { |one| tags.include?(one.to_s) }
    end

    def role?(name)
      [self["roles"]].flatten.include?(name)
    end

    def recipe?(name)
      run_list.include?(name) || [self["recipes"]].flatten.include?(name)
    end

    def data_bag(bag)
      Wire.ask("data_bag", bag.to_s, *Wire.place)
    end

    def data_bag_item(bag, item, secret = nil)
      raise ArgumentError, "a data bag's secret is not known here" if secret

      found = Wire.unpack(Wire.ask("data_bag_item", bag.to_s, item.to_s, *Wire.place), ::Mash, OwnArray)
      DataBagItem.new(found).tap { |one| one.data_bag = bag.to_s }
    end

    def search(index, query = "*:*", filter_result: nil, **_)
      wanted = filter_result&.map { |title, path| [title.to_s, path.map(&:to_s)] }.to_h if filter_result
      found = Wire.ask("search", index.to_s, query.to_s, wanted, *Wire.place)
      found = found.map { |one| Wire.unpack(one, ::Mash, OwnArray) }
      block_given? ? found.each { |one| yield one } : found
    end

    private

    def root(level)
      Levels.refresh
      @roots[level] ||= Root.new.tap do |made|
        made.level = level
        made.become(level_now(level))
      end
    end

    def replace_level(level, map)
      packed = Wire.pack(map)
      Levels.settle
      Wire.note("replace", level, packed, *Wire.place)
      @roots.delete(level)&.level = nil
      forget
    end

    def full(level, path)
      public_send(level)
      note_path("full", level, path)
      path[-1]
    end

    # Write at a path, what is in the way replaced; noted as one.
    def note_path(verb, level, path)
      *steps, value = path
      packed = Wire.pack(value)
      Levels.settle
      place = Wire.place
      root = public_send(level)
      root.write_here(plain(steps), value)
      changed(plain(steps)[0])
      Wire.note(verb, level, plain(steps), packed, *place)
    end

    def note_silent(level, path)
      Levels.settle
      Wire.note("unless", level, plain(path[0...-1]), Wire.pack(path[-1]), *Wire.place)
    end

    def ask_and_forget(*message)
      answer = Wire.ask(*message)
      forget
      answer
    end

    def merged(what, path)
      Wire.unpack(Wire.ask(what, plain(path), nil, nil), ImmutableMash, ImmutableArray)
    end

    def plain(path)
      path.map { |one| Paths.step(one) }
    end
  end

  class Node
    # An item of the run-list: its text, and the parts that Chef names.
    class RunListItem < String
      def name
        self[/\A(?:recipe|role)\[([^@\]]+)/, 1] || to_str
      end

      def type
        start_with?("role[") ? :role : :recipe
      end

      def recipe?
        type == :recipe
      end

      def role?
        type == :role
      end
    end

    class RunList < Array
      def initialize(items)
        super(items.map { |one| RunListItem.new(one) })
      end

      def to_s
        join(", ")
      end

      %w[recipe role].each do |kind|
        define_method("#{kind}_names") { filter_map { |one| one[/\A#{kind}\[([^@\]]+)/, 1] } }
        alias_method "#{kind}s", "#{kind}_names"
      end
      alias run_list_items to_a
    end
    RUNNING = new
  end
end
