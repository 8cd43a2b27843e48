# frozen_string_literal: true

# What a role, an environment or a Policyfile says when it is run: its fields, and the lines that set them.
require_relative "from_file"

module Described
  # A map that makes the maps between: default["a"]["b"] = 1.
  class Tree < Hash
    def initialize(noted)
      super()
      @noted = noted
    end

    def [](key)
      key = key.to_s
      key?(key) ? super : store(key, Tree.new(->(steps) { @noted.call([key, *steps]) }))
    end

    def []=(key, value)
      @noted.call([key.to_s])
      super(key.to_s, value)
    end
  end

  class Words
    include FromFile
    attr_reader :tree, :lines

    def initialize(path)
      @path, @tree, @lines = path, {}, []
    end

    def self.fields(*names)
      names.each { |name| define_method(name) { |value = nil| field(name.to_s, value) } }
    end

    private

    def field(name, value)
      return @tree[name] if value.nil?

      put([name], value)
    end

    def put(path, value)
      note(path)
      *above, last = path
      above.inject(@tree) { |here, key| here[key] ||= {} }[last] = value
    end

    def note(path)
      found = caller_locations.find { |one| one.path == @path }
      @lines << [path, found.lineno] if found
    end

    def items(field, given)
      given.empty? ? @tree[field] : put([field], given.flatten)
    end
  end

  class Role < Words
    fields :name, :description, :default_attributes, :override_attributes

    def run_list(*given) = items("run_list", given)
    alias recipes run_list

    def env_run_lists(given = nil)
      return @tree["env_run_lists"] if given.nil?

      put(["env_run_lists"], {})
      env_run_lists_add(given)
    end
    alias env_run_list env_run_lists

    def env_run_lists_add(given)
      given.each { |name, list| put(["env_run_lists", name.to_s], [list].flatten.compact) }
    end
    alias env_run_list_add env_run_lists_add
  end

  class Environment < Words
    fields :name, :description, :default_attributes, :override_attributes, :cookbook_versions

    def cookbook(name, version = "")
      put(["cookbook_versions", name.to_s], version)
    end
  end

  class Policy < Words
    fields :name

    def initialize(path)
      super
      @levels = %w[default override].to_h do |level|
        [level, @tree["#{level}_attributes"] = Tree.new(->(steps) { note(["#{level}_attributes", *steps]) })]
      end
    end

    def default = @levels["default"]
    def override = @levels["override"]
    def run_list(*given) = items("run_list", given)
    def default_source(*, **) = nil

    def named_run_list(name, *given)
      put(["named_run_lists", name.to_s], given.flatten)
    end

    def cookbook(name, constraint = "", path: "", **)
      put(["cookbooks", name.to_s], { "constraint" => constraint, "path" => path })
    end

    def include_policy(name, path: "", **)
      put(["included_policies", name.to_s], { "constraint" => "", "path" => path })
    end
  end

  KINDS = { "role" => Role, "environment" => Environment, "policy" => Policy }.freeze

  class << self
    def read(path, kind)
      words = KINDS.fetch(kind).new(path)
      words.from_file(path)
      [plain(words.tree), words.lines]
    end

    def plain(value)
      case value
      when String, Integer, nil, true, false then value
      when Float then value.finite? ? value : raise(ArgumentError, "#{value} is not a number of JSON")
      when Symbol then value.to_s
      when Hash then value.to_h { |key, one| [key.to_s, plain(one)] }
      when Array then value.map { |one| plain(one) }
      else raise(ArgumentError, "a #{value.class} is no value of JSON")
      end
    end
  end
end
