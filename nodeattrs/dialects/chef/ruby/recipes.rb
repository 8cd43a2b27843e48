# frozen_string_literal: true

# Recipes, compiled: their Ruby runs, and the resources that they declare do nothing.
#
# What else reaches a recipe by name is here, too: definitions, other recipes, what the run knows.
require_relative "resources"

class Chef
  module DSL
    # The words of a recipe alone.
    module Recipe
      include Words
      include Declaring

      def include_recipe(*names)
        run_context.include_recipe(*names, current_cookbook: cookbook_name)
      end
      alias require_recipe include_recipe

      def load_recipe(name)
        include_recipe(name)
      end

      def tag(*names)
        node.tag(*names)
      end

      def untag(*names)
        node.untag(*names)
      end

      def method_missing(word, *given, &block)
        definition = RunContext::RUNNING.definitions[word]
        return definition.call_in(self, given[0], &block) if definition
        return super unless Resource.kind?(word) || unknown_resource?(word, given, block)

        declare_resource(word, given[0], &block)
      end

      def respond_to_missing?(word, all = false)
        RunContext::RUNNING.definitions.key?(word) || Resource.kind?(word) || super
      end

      private

      # A word that nobody defined, and that looks like a resource: of a cookbook that is not there, or a mistake.
      def unknown_resource?(word, given, block)
        return false unless given.size == 1 && (given[0].is_a?(String) || block) && word.match?(/\A[a-z]\w*\z/)

        Wire.note("undefined", word.to_s, *Wire.place)
        true
      end
    end
  end

  class Recipe
    include DSL::Recipe
    include FromFile
    attr_accessor :cookbook_name, :recipe_name, :params, :run_context

    def initialize(cookbook_name, recipe_name, run_context = RunContext::RUNNING)
      @cookbook_name, @recipe_name, @run_context, @params = cookbook_name, recipe_name, run_context, {}
    end

    def to_s
      "cookbook: #{cookbook_name || "(none)"}, recipe: #{recipe_name || "(none)"} "
    end
    alias inspect to_s
  end

  # define :name, port: 80 do ... end
  class ResourceDefinition
    attr_accessor :params, :node

    def initialize(params, body)
      @params, @body, @node = params, body, Node::RUNNING
    end

    def call_in(caller, name, &block)
      given = ResourceDefinition.new(@params.dup, @body)
      given.instance_eval(&block) if block
      recipe = Recipe.new(caller.cookbook_name, caller.recipe_name)
      recipe.params = given.params
      recipe.params[:name] = name
      recipe.instance_eval(&@body)
    end

    def method_missing(word, *given)
      @params[word] = given.length == 1 ? given[0] : given
    end

    def respond_to_missing?(*)
      true
    end
  end

  # What is known while recipes compile.
  class RunContext
    include FromFile

    Cookbook = Struct.new(:name, :version) do
      alias_method :metadata, :itself
    end

    attr_reader :resource_collection, :definitions, :cookbook_collection

    def begin_as(cookbooks)
      @resource_collection, @definitions, @started = ResourceCollection.new, {}, []
      @cookbook_collection = Mash.new
      cookbooks.each { |name, version| @cookbook_collection.put(name, Cookbook.new(name.to_sym, version)) }
    end

    def node
      Node::RUNNING
    end

    def root_run_context
      self
    end
    alias parent_run_context root_run_context

    def include_recipe(*names, current_cookbook: nil)
      names.flatten.map do |name|
        name = "#{current_cookbook}#{name}" if name.to_s.start_with?("::")
        Wire.ask("recipe", name.to_s, *Wire.place).tap { started([whole(name)]) }
      end
    end

    def load_recipe(name, current_cookbook: nil)
      include_recipe(name, current_cookbook: current_cookbook)[0]
    end

    def started(names)
      @started |= names
    end

    def loaded_recipes
      @started.dup
    end

    def loaded_recipe?(name)
      @started.include?(whole(name))
    end

    def whole(name)
      name.to_s.include?("::") ? name.to_s : "#{name}::default"
    end

    # define, in a file of definitions
    def define(name, params = {}, &body)
      @definitions[name] = ResourceDefinition.new(params || {}, body)
    end

    RUNNING = new
  end

  class ResourceCollection
    include Enumerable

    def initialize
      @all, @count = [], 0
    end

    def each(&block)
      @all.each(&block)
    end
    alias all_resources to_a

    def insert(one, **)
      @all << one
      one.number = @count += 1
      one.tell
    end
    alias << insert

    def delete(one)
      Wire.note("gone", one.number, nil, nil) if one
      @all.delete(one)
    end

    def named(type, name)
      @all.reverse.find { |one| one.declared_type == type.to_sym && one.name == name }
    end

    # "template[/etc/motd]", { template: "/etc/motd" }, or several
    def find(*named, &block)
      return super(&block) if named.empty?

      found = named.flat_map { |one| one.is_a?(Hash) ? one.to_a : [one.to_s.match(/\A(\w+)\[(.*)\]\z/m)&.captures] }
      found = found.map do |type, name|
        raise Exceptions::InvalidResourceSpecification, "not a resource: #{named}" unless type

        [name].flatten.map { |one| named(type, one) || raise(Exceptions::ResourceNotFound, "Cannot find a resource matching #{type}[#{one}]") }
      end.flatten
      found.size == 1 ? found[0] : found
    end
    alias lookup find
    alias resources find
  end

  class << self
    def node
      Node::RUNNING
    end

    def run_context
      RunContext::RUNNING
    end

    # Handlers run when recipes have.
    def event_handler(&block)
      Resource.later(block)
    end
  end

  class Node
    include Asking

    def run_context
      RunContext::RUNNING
    end
  end
end
