# frozen_string_literal: true

# Maps and lists of attributes, as Chef's files see them: those of a level, which can be written to, and merged
# ones, which cannot.
#
# What stands in a level is kept here as long as nobody else writes there; each change is made here and told.
class Mash < Hash
  alias put []=
  alias get []
  alias there? key?
  alias empty_out clear

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
    attr_reader :number

    def self.known
      @known ||= []
    end

    def self.keep(&block)
      new(&block).tap { |one| one.number_as(known.push(one).size - 1) }
    end

    def number_as(number)
      @number = number
    end

    def self.value_of(value)
      value = value.call while value.is_a?(DelayedEvaluator)
      value
    end
  end

  module Exceptions
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
    # Paths in maps and lists: reading that makes nothing, and writing that makes all.
    module Paths
      def read(*path)
        read!(*path)
      rescue Exceptions::NoSuchAttribute
        nil
      end
      alias dig read

      def read!(*path)
        raise Exceptions::NoSuchAttribute, path.join(".") unless exist?(*path)

        path.inject(self) { |here, key| here[key] }
      end

      def exist?(*path)
        Paths.lead?(self, path)
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

    # A map or list that may lie in a level: it knows what holds it, and finds out where it is when asked.
    module Held
      attr_accessor :owner, :owner_key

      # The steps from the level; nil for what lies in none, or was replaced there.
      def steps
        above = owner&.steps
        return above && above << owner_key if owner.is_a?(Hash) && owner.get(owner_key).equal?(self)
        return unless above && owner.is_a?(Array)

        index = owner.index { |one| one.equal?(self) }
        index && above << index
      end

      def level
        owner&.level
      end

      # Hold what has no owner yet, and what is in it.
      def own(value, key = nil)
        return value unless value.is_a?(Held)

        value.owner, value.owner_key = self, key
        value.is_a?(Hash) ? value.each { |inner, one| value.own(one, inner) } : value.each { |one| value.own(one) }
        value
      end

      # Be what stands there now; maps and lists that were there before go on.
      def become(now)
        before = is_a?(Hash) ? {}.merge(self) : dup
        empty_out
        now.each_with_index do |one, index|
          key, one = is_a?(Hash) ? one : [index, one]
          old = before[key]
          one = one.is_a?(Held) && old.instance_of?(one.class) ? old.become(one) : own(one, key)
          is_a?(Hash) ? put(key, one) : put(one)
        end
        self
      end

      # What enters is copied, and its maps and lists become ones of a level.
      def taken(value, key = nil)
        case value
        when Hash then VividMash.new(value)
        when Array then AttrArray.new(value)
        else return value
        end.tap { |made| made.owner, made.owner_key = self, key }
      end
    end

    # What is done to levels: told to the node in order.
    module Levels
      @made = []
      @handed = []
      @stale = []

      class << self
        # Somebody else has written to levels: they are read again before anything is done there.
        def forget(roots)
          @stale = roots
        end

        def refresh
          return if @stale.empty?

          stale, @stale = @stale, []
          stale.each { |root| root.become(Node::RUNNING.level_now(root.level)) }
        end

        # Tell a change of a map or list; what was only made on the way to it is made with it.
        def tell(verb, held, *more)
          level = held.level
          steps = level && held.steps
          return unless steps

          steps += more.shift(1) if %w[set delete].include?(verb)
          settle_made(level, steps)
          Node::RUNNING.changed(steps[0])
          Wire.tell(verb, level, steps, *more, *Wire.place)
        end

        # A map was made by stepping to it.
        def made(map)
          @made << [map, Wire.place]
        end

        # Whether something was not told.
        def unsettled?
          !(@made.empty? && @handed.empty?)
        end

        # A text was handed out that can be changed in place, as Ruby's can.
        def handed(owner, key, text)
          @handed << [owner, key, text, text.dup, Wire.place] unless text.frozen?
          text
        end

        # Tell all that was not told.
        def settle(final = false)
          @handed.each do |one|
            owner, key, text, before, place = one
            next if text == before || !owner.get(key).equal?(text) || !(steps = owner.steps)

            one[3] = text.dup
            Node::RUNNING.changed(steps[0] || key)
            Wire.tell("set", owner.level, [*steps, key], text, *place)
          end
          @handed.clear if final
          settle_made
        end

        private

        def settle_made(level = nil, steps = nil)
          return if @made.empty?

          made, @made = @made, []
          made = made.map { |map, place| [map.level, map.steps, place] }.select { |one| one[1] }
          return if made.all? { |its, path,| its == level && steps[0, path.size] == path }

          made.each do |its, path, place|
            Node::RUNNING.changed(path[0])
            Wire.tell("step", its, path, *place)
          end
        end
      end
    end

    class VividMash < Mash
      include Held
      include Paths

      def [](key)
        Levels.refresh
        key = convert_key(key)
        value = get(key)
        return value.is_a?(String) ? Levels.handed(self, key, value) : value if !value.nil? || there?(key)

        made = taken({}, key)
        put(key, made)
        Levels.made(made)
        made
      end

      def []=(key, value)
        Levels.refresh
        key = convert_key(key)
        return value if value.is_a?(Held) && value.equal?(get(key))

        packed = Wire.pack(value)
        Levels.tell("set", self, key, packed)
        put(key, taken(value, key))
        value
      end
      alias store []=
      alias attribute? key?
      alias take_out delete

      # Put a value at a path, what is in the way replaced by maps; nobody is told.
      def write_here(steps, value)
        here = self
        steps.each_cons(2) do |key, following|
          inner = here.get(key)
          unless inner.is_a?(Hash) || (inner.is_a?(Array) && following.is_a?(Integer))
            here.hold(key, {})
            inner = here.get(key)
          end
          here = inner
        end
        here.hold(steps[-1], value)
      end

      def hold(key, value)
        put(key, taken(value, key))
      end

      def delete(key, &block)
        Levels.refresh
        key = convert_key(key)
        Levels.tell("delete", self, key) if there?(key)
        take_out(key, &block)
      end

      def clear
        keys.each { |key| delete(key) }
        self
      end

      def update(*maps)
        maps.each do |map|
          packed = Wire.pack(map.to_h { |key, value| [convert_key(key), value] })
          Levels.tell("update", self, packed) unless map.empty?
          map.each_pair { |key, value| put(key = convert_key(key), taken(value, key)) }
        end
        self
      end
      alias merge! update

      def replace(map)
        clear.update(map)
      end

      def shift
        key, = first
        [key, delete(key)] unless empty?
      end

      # Whatever else Ruby's maps can do to themselves is found out, and told key by key.
      %i[compact! delete_if filter! keep_if reject! select! transform_keys! transform_values!].each do |name|
        define_method(name) do |*args, &block|
          after = to_hash
          answer = after.public_send(name, *args, &block)
          (keys - after.keys).each { |key| delete(key) }
          after.each { |key, value| self[key] = value unless there?(key) && get(key).equal?(value) }
          answer.nil? ? nil : self
        end
      end

      def initialize(map = nil)
        super()
        map&.each { |key, value| put(key = convert_key(key), taken(value, key)) }
      end
    end

    # A whole level.
    class Root < VividMash
      attr_accessor :level

      def steps
        []
      end
    end

    class AttrArray < Array
      include Held
      alias put <<
      alias get []
      alias empty_out clear

      def initialize(list = [])
        super()
        list.each { |one| put(taken(one)) }
      end

      def [](*index)
        value = super
        value.is_a?(String) && index[0].is_a?(Integer) && index.size == 1 ? Levels.handed(self, index[0], value) : value
      end

      def dup
        Array.new(self)
      end

      def to_a
        Array.new(self)
      end

      # What the node's own lists can do is told by its name, so that each element keeps who set it.
      { :<< => "push", push: "push", append: "push", concat: "concat", unshift: "unshift", prepend: "unshift",
        insert: "insert", delete: "delete", delete_at: "delete_at", clear: "clear" }.each do |name, told|
        define_method(name) do |*args, &block|
          Levels.refresh
          args = [args.flatten(1)] if told == "concat"
          packed = Wire.pack(args)
          Levels.tell("list", self, told, packed)
          first = told == "insert" ? 1 : 0
          args = args.each_with_index.map { |one, index| index < first ? one : taken_each(one, told) }
          super(*args, &block)
        end
      end

      %i[pop shift].each do |name|
        define_method(name) do |*count|
          next anew { super(*count) } unless count.empty?

          Levels.tell("list", self, name.to_s, []) unless empty?
          super()
        end
      end

      def []=(*index, value)
        if index.size == 1 && index[0].is_a?(Integer)
          packed = Wire.pack(value)
          index = index[0].negative? ? index[0] + size : index[0]
          raise IndexError, "index #{index - size} too small for array" if index.negative?

          Levels.tell("set", self, index, packed)
          return super(index, taken(value))
        end
        anew { super(*index, value) }
      end

      %i[collect! compact! delete_if fill filter! flatten! keep_if map! reject! replace reverse! rotate! select! shuffle!
         slice! sort! sort_by! uniq!].each do |name|
        define_method(name) { |*args, &block| anew { super(*args, &block) } }
      end

      def hold(index, value)
        Array.instance_method(:[]=).bind(self).call(index, taken(value))
      end

      private

      def taken_each(value, told)
        return value if %w[delete delete_at].include?(told)

        told == "concat" ? value.map { |one| taken(one) } : taken(value)
      end

      # Whatever else Ruby's lists can do to themselves is told as the list that comes of it.
      def anew
        before = map(&:itself)
        answer = yield
        now = map(&:itself)
        same = now.size == before.size && now.each_with_index.all? { |one, index| one.equal?(before[index]) }
        Levels.tell("list", self, "replace", [Wire.pack(now)]) unless same
        each_with_index { |one, index| hold(index, one) unless one.is_a?(Held) && one.owner.equal?(self) }
        answer
      end
    end

    # A list that nobody keeps: of a data bag's item, of a search.
    class OwnArray < Array
      alias put <<
    end

    # What merged maps and lists have in common: they are read, and a deferred value in them is computed.
    module Merged
      def [](*index)
        DelayedEvaluator.value_of(super)
      end

      def dup
        to_plain
      end

      def to_plain
        is_a?(Hash) ? each_with_object({}) { |(key, one), made| made[key] = copied(one) } : map { |one| copied(one) }
      end

      private

      def copied(one)
        return one.to_plain if one.is_a?(Merged)

        one.is_a?(String) ? one.dup : one
      end
    end

    class ImmutableMash < Mash
      include Paths
      prepend Merged
      alias attribute? key?

      def dup
        Mash.new(to_plain)
      end

      def to_h(&block)
        block ? super : to_plain
      end

      def to_hash
        to_plain
      end

      def merge(*maps)
        Mash.new(to_plain).update(*maps)
      end
      %i[[]= clear compact! default= delete delete_if except! filter! keep_if merge! rehash reject! replace select! shift
         store transform_keys! transform_values! unlink unlink! update write write!].each do |name|
        define_method(name) { |*| raise Exceptions::ImmutableAttributeModification }
      end
    end

    class ImmutableArray < Array
      alias put push
      prepend Merged

      def to_a
        to_plain
      end
      alias to_array to_a
      %i[<< []= append clear collect! compact! concat delete delete_at delete_if fill filter! flatten! insert keep_if map!
         pop prepend push reject! replace reverse! rotate! select! shift shuffle! slice! sort! sort_by! uniq!
         unshift].each do |name|
        define_method(name) { |*| raise Exceptions::ImmutableAttributeModification }
      end
    end
  end
end
