# frozen_string_literal: true

# Resources, declared and inert: a name, what their block says, and where. No action runs, and no guard.
#
# Those of Chef take any property. Those of a cookbook have the properties that it declares; the bodies of their actions
# are not looked at here.
require_relative "built_in"
require_relative "words"

class Chef
  class Resource
    include Words
    include Declaring
    @kinds = {}

    class << self
      include FromFile
      attr_writer :resource_name

      # The class of a word; those of cookbooks go before Chef's own.
      def of(word, name, recipe)
        word = word.to_sym
        found = Resource.kinds[word] || Resource.by_class_name(word)
        found ||= BuiltIn::NAMES.key?(word) ? Resource.const_missing(class_name(word)) : Class.new(Open)
        found.new(name, RunContext::RUNNING).tap { |made| made.begin_as(word, recipe) }
      end

      def kinds
        @kinds
      end

      def kind?(word)
        BuiltIn::NAMES.key?(word) || Resource.kinds.key?(word) || !Resource.by_class_name(word).nil?
      end

      def by_class_name(word)
        name = class_name(word)
        return unless name.match?(/\A[A-Z]\w*\z/) && Resource.const_defined?(name, false)

        found = Resource.const_get(name, false)
        found if BuiltIn::NAMES.key?(word) || found.superclass != Open
      end

      def class_name(word)
        word.to_s.split("_").map(&:capitalize).join
      end

      # A block of a resource that runs when it converges: whether it can set attributes, its text says. A block of
      # `eval` or of a library elsewhere has no text here.
      def later(block)
        return unless block

        file, line = block.source_location
        return Wire.note("later", file, line) if Wire.knows?(file)

        Wire.note("hides", "a block that runs later is in no file of the repository", *Wire.place)
      end

      # A block of a class that a recipe makes; those of libraries and resources are read with their files.
      def later_of_recipe(block)
        later(block) if block && Wire.ran?(block.source_location&.first)
      end

      def load_file(path, cookbook)
        base = File.basename(path, ".rb")
        made = Class.new(LWRPBase)
        made.source_file = path
        made.class_from_file(path)
        name = base == "default" ? cookbook : "#{cookbook}_#{base}"
        made.provides(name.tr("-", "_")) unless Resource.kinds.value?(made)
        made.resource_name(name.tr("-", "_").to_sym) unless made.resource_name
      end

      # What a class of resources says of itself

      def provides(name, **)
        Resource.kinds[name.to_sym] = self
      end

      def resource_name(name = nil)
        @resource_name = name.to_sym if name
        @resource_name || (superclass.resource_name if superclass.respond_to?(:resource_name))
      end

      def property(name, *types, **options)
        options = { is: types.flatten(1) }.merge(options)
        properties[name.to_sym] = options
        define_method(name) { |*given, &block| block ? Resource.later(block) : property_of(name, options, given) }
        define_method("#{name}=") { |value| property_of(name, options, [value]) }
      end

      def attribute(name, **options)
        property(name, **options)
      end

      def properties
        @properties ||= superclass.respond_to?(:properties) ? superclass.properties.dup : {}
      end

      def default_action(name = nil)
        @default_action = [name].flatten if name
        @default_action || (superclass.respond_to?(:default_action) ? superclass.default_action : [:nothing])
      end

      def actions(*names)
        @default_action ||= names.flatten.first(1) unless names.empty?
        names
      end
      alias allowed_actions actions

      def action(name, **, &block)
        Resource.later_of_recipe(block)
        @default_action ||= [name]
      end

      # A partial beside the file, or in a folder below it; Chef's own ones set no attribute.
      def use(name)
        return if name.to_s.start_with?("core::")

        folder, base = File.split(name.to_s.delete_suffix(".rb"))
        class_from_file(File.join(File.dirname(@source_file), folder, "_#{base.delete_prefix("_")}.rb"))
      end
      attr_writer :source_file

      def action_class(*)
        StandIn
      end
      alias declare_action_class action_class

      def lazy(&block)
        Resource.later_of_recipe(block)
        DelayedEvaluator.new(&block)
      end

      def node
        Node::RUNNING
      end

      # What else a class says is about converging.
      def method_missing(*, &block)
        Resource.later_of_recipe(block)
        nil
      end

      def respond_to_missing?(*)
        true
      end

      def const_missing(name)
        equal?(Resource) ? const_set(name, Class.new(Open)) : super
      end
    end

    attr_accessor :cookbook_name, :recipe_name, :params, :run_context, :declared_type, :source_line, :number
    attr_reader :given
    attr_writer :name, :provider, :allowed_actions

    # name "x" sets what name alone gives.
    %w[name provider allowed_actions].each do |word|
      define_method(word) do |*given|
        given.empty? ? instance_variable_get("@#{word}") : instance_variable_set("@#{word}", given[0])
      end
    end

    def initialize(name, run_context = nil)
      @name = name.is_a?(Array) ? name.join(", ") : name.to_s
      @run_context, @given, @allowed_actions = run_context, {}, []
    end

    def begin_as(word, recipe)
      @declared_type, @cookbook_name, @recipe_name = word, recipe.cookbook_name, recipe.recipe_name
      @params = recipe.params
      @place = Wire.here
    end

    # Be told of to the node's catalog.
    def tell
      given = @given.to_h { |key, one| [key.to_s, plain(one)] }
      Wire.note("resource", number, declared_type.to_s, name, given, *@place)
      self
    end

    # Take what another block says; the catalog is told again.
    def edit(block)
      instance_exec(&block) if block
      tell
    end

    def resource_name
      @resource_name || self.class.resource_name || declared_type
    end

    def action(*names)
      names.empty? ? @action || self.class.default_action : @action = names.flatten
    end
    alias action= action

    def not_if(_command = nil, _options = nil, &block)
      Resource.later(block)
    end
    alias only_if not_if

    %i[notifies subscribes ignore_failure retries retry_delay sensitive guard_interpreter umask].each do |word|
      define_method(word) { |*given| given.empty? ? @given[word] : @given[word] = given.size > 1 ? given : given[0] }
    end

    def compile_time(*given)
      given.empty? ? @given[:compile_time] : @given[:compile_time] = given[0]
    end

    def lazy(&block)
      Resource.later(block)
      DelayedEvaluator.new(&block)
    end

    def after_created; end

    # Now, and not when the rest converges: nothing is done, which is well where it sets no attribute.
    def run_action(name = :nothing, *)
      return if name.to_s == "nothing" || (later = @later).nil? && BuiltIn::NAMES.key?(declared_type) && harmless?
      is_known = later.nil? || Wire.knows?(later[0])
      return if is_known && Wire.ask("harmless", declared_type.to_s, *(later || [nil, nil]))

      Guard.refuse("#{self}.run_action(#{name.inspect})")
    end

    def updated_by_last_action(*)
      false
    end
    alias updated_by_last_action? updated_by_last_action
    alias updated? updated_by_last_action

    def is(*given)
      given.size > 1 ? given : given[0]
    end

    def set_or_return(word, value, options = {})
      return property_of(word, options, []) if value.nil?

      property_of(word, options, [value])
    end

    def property_is_set?(name)
      @given.key?(name.to_sym)
    end

    def declared_key
      "#{declared_type}[#{name}]"
    end
    alias to_s declared_key
    alias inspect declared_key

    private

    def harmless?
      !%i[hostname ohai ruby_block windows_feature windows_feature_dism windows_feature_powershell].include?(declared_type)
    end

    # Set a property, or say what it is: as it was set, else its default.
    def property_of(name, options, given)
      name = name.to_sym
      return @given.delete(name) && nil if given.size == 1 && given[0].nil?
      return @given[name] = coerced(given.size > 1 ? given : given[0], options) unless given.empty?

      value = @given.fetch(name) do
        next @name if options.slice(:name_property, :name_attribute).value?(true)
        next options[:default] unless options[:required] == true

        raise Exceptions::ValidationFailed, "#{name} is a required property"
      end
      return value unless value.is_a?(DelayedEvaluator)

      coerced(instance_exec(*[self].first(value.arity.abs), &value), options)
    end

    def coerced(value, options)
      return value if value.is_a?(DelayedEvaluator) || !options[:coerce]

      instance_exec(value, &options[:coerce])
    end

    # A value as the catalog shows it.
    def plain(value, room = 20)
      case value
      when String, Integer, nil, true, false then value
      when Float then value.finite? ? value : value.to_s
      when Symbol then value.to_s
      when Hash then room.zero? ? {} : value.to_h { |key, one| [key.to_s, plain(one, room - 1)] }
      when Array then room.zero? ? [] : value.map { |one| plain(one, room - 1) }
      when Proc then "(computed later)"
      else "(#{value.class})"
      end
    end

    # A resource of Chef, or one that nobody here defines: it takes whatever it is given.
    class Open < Resource
      def system(*given)
        [true, false].include?(given[0]) ? @given[:system] = given[0] : super
      end

      def method_missing(word, *given, &block)
        return super if word.end_with?("?", "!")

        word = word.to_s.chomp("=").to_sym
        if block
          Resource.later(block)
          @later = block.source_location || []
          @given[word] = block if given.empty?
        end
        return @given[word] = given.size > 1 ? given : given[0] unless given.empty?

        block || @given.fetch(word) { Guard.refuse("#{word} of #{self}, which was not set") }
      end

      def respond_to_missing?(*)
        false
      end
    end

    class LWRPBase < Resource; end
  end
end
