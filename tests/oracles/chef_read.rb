# What the files of a Chef repository say, by running them: a list of paths comes in, a map of path to JSON goes out.
require "json"

class Described
  def initialize(name)
    @fields = { "name" => name }
    @lists = { "_default" => [] }
  end

  %w[name description default_attributes override_attributes cookbook_versions].each do |word|
    define_method(word) do |value = nil|
      @fields[word] = value unless value.nil?
      @fields[word]
    end
  end

  def cookbook(name, version)
    (@fields["cookbook_versions"] ||= {})[name] = version
  end

  def run_list(*items)
    @lists["_default"] = items.flatten unless items.empty?
  end
  alias recipes run_list

  def env_run_lists(lists)
    raise "no _default" unless lists.key?("_default")

    @lists = lists.to_h { |name, items| [name, Array(items).flatten] }
  end
  alias env_run_list env_run_lists

  def to_h
    @fields.merge("run_list" => @lists["_default"], "env_run_lists" => @lists.reject { |name, _| name == "_default" })
  end
end

class Metadata
  def initialize(_)
    @fields = { "dependencies" => {} }
  end

  %w[name version].each do |word|
    define_method(word) do |value = nil|
      @fields[word] = value unless value.nil?
      @fields[word]
    end
  end

  def depends(name, constraint = "")
    @fields["dependencies"][name] = constraint
  end

  def method_missing(*); end

  def respond_to_missing?(*)
    true
  end

  def to_h
    @fields
  end
end

answers = $stdin.read.split("\n").to_h do |file|
  thing = (File.basename(file) == "metadata.rb" ? Metadata : Described).new(File.basename(file, ".rb"))
  thing.instance_eval(File.read(file, encoding: "UTF-8"), file)
  [file, JSON.parse(JSON.generate(thing.to_h))]
rescue Exception => error # whatever a file raises is its answer
  [file, { "error" => error.class.name }]
end
puts JSON.generate(answers)
