# frozen_string_literal: true

# What a file's own text says of the statements that set values over several lines: where they begin and end, and
# where the literal that they set says each of its entries.
#
# Ruby names one line of such a statement, and not always its first. Where Ruby does not show how it reads a text,
# nothing is known.
module Lines
  ARGUMENTS = { ATTRASGN: 2, OP_ASGN1: 3, CALL: 2, OPCALL: 2, FCALL: 1 }.freeze
  CALLS = %i[<< []= push append concat unshift prepend insert replace merge! update store write write! default_unless
             normal_unless override_unless default! normal! override! force_default! force_override!].freeze
  SCALARS = %i[LIT STR SYM INTEGER].freeze

  class << self
    # Of each such statement, and of those inside of it: first and last line, column, entries of the literal.
    def of(source)
      @found = []
      visit(RubyVM::AbstractSyntaxTree.parse(source), false) if defined?(RubyVM::AbstractSyntaxTree)
      @found
    rescue SyntaxError
      [] # an error when the file runs
    end

    private

    def visit(node, inside)
      return unless node?(node) && (inside || node.last_lineno > node.first_lineno)

      if sets?(node)
        add(node)
        inside = true
      end
      node.children.each { |one| visit(one, inside) }
    end

    def sets?(node)
      at = ARGUMENTS[node.type]
      at && node?(node.children[at]) && (node.type == :OP_ASGN1 || CALLS.include?(node.children[at - 1]))
    end

    def node?(part)
      part.is_a?(RubyVM::AbstractSyntaxTree::Node)
    end

    def add(node)
      given = node.children[ARGUMENTS[node.type]]
      given = items(given).last if node?(given) && list?(given) && node.type != :OP_ASGN1
      entries = []
      literal(given, [], entries) if node?(given)
      @found << [node.first_lineno, node.last_lineno, node.first_column + 1, entries]
    end

    def list?(node)
      %i[LIST ARRAY].include?(node.type)
    end

    def items(list)
      list.children.select { |one| node?(one) }
    end

    def literal(value, path, entries)
      if list?(value)
        items(value).each_with_index { |one, index| entry(one, one, path + [index], entries) }
      elsif value.type == :HASH && node?(value.children[0])
        items(value.children[0]).each_slice(2) do |key, one|
          name = SCALARS.include?(key.type) ? key.children[0] : nil
          name = name.to_s if name.is_a?(Symbol)
          entry(key, one, path + [name], entries) if one && (name.is_a?(String) || name.is_a?(Integer))
        end
      end
    end

    def entry(named, value, path, entries)
      entries << [path, named.first_lineno, named.first_column + 1]
      literal(value, path, entries)
    end
  end
end
