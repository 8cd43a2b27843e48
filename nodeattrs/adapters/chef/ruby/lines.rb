# frozen_string_literal: true

# What a file's own text says of the statements that set values over several lines: where they begin and end, and
# where the literal that they set says each of its entries.
#
# Ruby names one line of such a statement, and not always its first.
require "ripper"

module Lines
  class << self
    # Of each such statement, and of those inside of it: first and last line, column, entries of the literal.
    def of(source)
      @found = []
      visit(Ripper.sexp(source))
      long = @found.select { |first, last,| last > first }
      @found.select { |first, last,| long.any? { |from, to,| from <= first && last <= to } }
    end

    private

    def visit(part)
      return unless part.is_a?(Array)

      value = part[0].is_a?(Symbol) ? value_of(part) : false
      add(part, value) unless value == false
      part.each { |one| visit(one) if one.is_a?(Array) }
    end

    # What a statement sets, where that is written; nil where it is computed, false for no such statement.
    def value_of(part)
      case part[0]
      when :assign then part[2]
      when :opassign then part[3]
      when :binary then part[2] == :<< ? part[3] : false
      when :method_add_arg, :command_call, :command then last_argument(part[-1])
      else false
      end
    end

    def last_argument(part)
      part = part[1] if part.is_a?(Array) && part[0] == :arg_paren
      part = part[1] if part.is_a?(Array) && part[0] == :args_add_block
      part.is_a?(Array) && part[0].is_a?(Array) ? part[-1] : nil
    end

    def add(part, value)
      tokens = positions(part)
      return if tokens.empty?

      first = tokens.min
      entries = []
      literal(value, [], entries)
      @found << [first[0], tokens.map(&:first).max, first[1] + 1, entries]
    end

    def positions(part, found = [])
      part.each do |one|
        next unless one.is_a?(Array)

        token?(one) ? found << one[2] : positions(one, found)
      end
      found
    end

    def token?(part)
      part[0].is_a?(Symbol) && part[0].start_with?("@") && part[2].is_a?(Array)
    end

    def literal(value, path, entries)
      case value && value[0]
      when :hash then value[1] && pairs(value[1][1], path, entries)
      when :bare_assoc_hash then pairs(value[1], path, entries)
      when :array
        return unless value[1].is_a?(Array) && value[1][0].is_a?(Array)

        value[1].each_with_index { |one, index| entry(one, one, path + [index], entries) }
      end
    end

    def pairs(list, path, entries)
      list.each do |kind, key, value|
        name = kind == :assoc_new ? key_of(key) : nil
        entry(key, value, path + [name], entries) unless name.nil?
      end
    end

    def entry(named, value, path, entries)
      line, column = positions([named]).min
      entries << [path, line, column + column_of_quote(named)] if line
      literal(value, path, entries)
    end

    # A token begins behind its quotation mark or colon.
    def column_of_quote(part)
      %i[string_literal symbol_literal].include?(part[0]) ? 0 : 1
    end

    def key_of(part)
      case part[0]
      when :@label then part[1].chomp(":")
      when :@int then part[1].to_i
      when :string_literal then part[1].size == 2 && part[1][1][0] == :@tstring_content ? part[1][1][1] : nil
      when :symbol_literal then part[1][1].is_a?(Array) ? part[1][1][1] : nil
      end
    end
  end
end
