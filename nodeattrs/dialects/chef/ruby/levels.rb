# frozen_string_literal: true

# Maps and lists of a level, which can be written to, with all that Ruby's own can do.
#
# What stands in a level is kept here as long as nobody else writes there; each change is made here and noted.
require_relative "mash"

class Chef
  class Node
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

    # What is done to levels: noted for the node in order.
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

        # Note a change of a map or list; what was only made on the way to it is made with it, unless it goes.
        def note(verb, held, *more)
          level = held.level
          steps = level && held.steps
          return unless steps

          steps += more.shift(1) if %w[set delete].include?(verb)
          verb == "delete" ? settle_made : settle_made(level, steps)
          Node::RUNNING.changed(steps[0])
          Wire.note(verb, level, steps, *more, *Wire.place)
        end

        # A map was made by stepping to it.
        def made(map)
          @made << [map, Wire.place]
        end

        # Whether something was not noted.
        def unsettled?
          !(@made.empty? && @handed.empty?)
        end

        # A text was handed out that can be changed in place, as Ruby's can.
        def handed(owner, key, text)
          @handed << [owner, key, text, text.dup, Wire.place] unless text.frozen?
          text
        end

        # Note all that was not noted.
        def settle(final = false)
          @handed.each do |one|
            owner, key, text, before, place = one
            next if text == before || !owner.get(key).equal?(text) || !(steps = owner.level && owner.steps)

            one[3] = text.dup
            Node::RUNNING.changed(steps[0] || key)
            Wire.note("set", owner.level, [*steps, key], text, *place)
          end
          @handed.clear if final
          settle_made
        end

        private

        def settle_made(level = nil, steps = nil)
          return if @made.empty?

          made, @made = @made, []
          # Of a level that was replaced as a whole nothing is noted.
          made = made.map { |map, place| [map.level, map.steps, place] }.select { |one| one[0] && one[1] }
          return if made.all? { |its, path,| its == level && steps[0, path.size] == path }

          made.each do |its, path, place|
            Node::RUNNING.changed(path[0])
            Wire.note("step", its, path, *place)
          end
        end
      end
    end

    class VividMash < Mash
      include Held
      include Paths

      def [](key)
        Levels.refresh
        key = Paths.step(key)
        value = get(key)
        return value.is_a?(String) ? Levels.handed(self, key, value) : value if !value.nil? || there?(key)

        made = taken({}, key)
        put(key, made)
        Levels.made(made)
        made
      end

      def []=(key, value)
        Levels.refresh
        key = Paths.step(key)
        return value if value.is_a?(Held) && value.equal?(get(key))

        packed = Wire.pack(value)
        Levels.note("set", self, key, packed)
        put(key, taken(value, key))
        value
      end
      alias store []=
      alias attribute? key?
      alias take_out delete

      # Put a value at a path, what is in the way replaced by maps; it is not noted.
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
        Levels.note("delete", self, key) if there?(key)
        take_out(key, &block)
      end

      def clear
        keys.each { |key| delete(key) }
        self
      end

      def update(*maps)
        maps.each do |map|
          packed = Wire.pack(map.to_h { |key, value| [convert_key(key), value] })
          Levels.note("update", self, packed) unless map.empty?
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

      # Whatever else Ruby's maps can do to themselves is found out, and noted key by key.
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

      def self.name
        superclass.name
      end

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

      # What the node's own lists can do is noted by its name, so that each element keeps who set it.
      { :<< => "push", push: "push", append: "push", concat: "concat", unshift: "unshift", prepend: "unshift",
        insert: "insert", delete: "delete", delete_at: "delete_at", clear: "clear" }.each do |name, noted|
        define_method(name) do |*args, &block|
          Levels.refresh
          args = [args.flatten(1)] if noted == "concat"
          packed = Wire.pack(args)
          Levels.note("list", self, noted, packed)
          first = noted == "insert" ? 1 : 0
          args = args.each_with_index.map { |one, index| index < first ? one : taken_each(one, noted) }
          super(*args, &block)
        end
      end

      %i[pop shift].each do |name|
        define_method(name) do |*count|
          next noted_as_replace { super(*count) } unless count.empty?

          Levels.note("list", self, name.to_s, []) unless empty?
          super()
        end
      end

      def []=(*index, value)
        if index.size == 1 && index[0].is_a?(Integer)
          packed = Wire.pack(value)
          index = index[0].negative? ? index[0] + size : index[0]
          raise IndexError, "index #{index - size} too small for array" if index.negative?

          Levels.note("set", self, index, packed)
          return super(index, taken(value))
        end
        noted_as_replace { super(*index, value) }
      end

      %i[collect! compact! delete_if fill filter! flatten! keep_if map! reject! replace reverse! rotate! select! shuffle!
         slice! sort! sort_by! uniq!].each do |name|
        define_method(name) { |*args, &block| noted_as_replace { super(*args, &block) } }
      end

      def hold(index, value)
        Array.instance_method(:[]=).bind(self).call(index, taken(value))
      end

      private

      def taken_each(value, noted)
        return value if %w[delete delete_at].include?(noted)

        noted == "concat" ? value.map { |one| taken(one) } : taken(value)
      end

      # Whatever else Ruby's lists can do to themselves is noted as the list that comes of it.
      def noted_as_replace
        before = map(&:itself)
        answer = yield
        now = map(&:itself)
        same = now.size == before.size && now.each_with_index.all? { |one, index| one.equal?(before[index]) }
        Levels.note("list", self, "replace", [Wire.pack(now)]) unless same
        each_with_index { |one, index| hold(index, one) unless one.is_a?(Held) && one.owner.equal?(self) }
        answer
      end
    end
  end
end
