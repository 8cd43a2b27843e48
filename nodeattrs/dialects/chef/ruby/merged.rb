# frozen_string_literal: true

# Maps and lists that are only read: what `node["a"]` gives, and what data bags and searches do.
require_relative "mash"

class Chef
  class Node
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
