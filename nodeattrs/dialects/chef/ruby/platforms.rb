# frozen_string_literal: true

# What Chef's files ask of the platform: values by platform, and the predicates of chef-utils, which is used where
# it is installed.
begin
  require "chef-utils"
rescue LoadError
  nil
end

module Platforms
  FAMILIES = %w[aix amazon arch debian fedora freebsd gentoo netbsd openbsd rhel solaris2 suse windows].freeze
  if defined?(ChefUtils)
    include ChefUtils
  else
    FAMILIES.each { |name| define_method("#{name}?") { |node = self| node["platform_family"] == name } }

    def macos?(node = self)
      node["platform_family"] == "mac_os_x"
    end
    alias mac_os_x? macos?

    def linux?(node = self)
      node["os"] == "linux"
    end
  end

  def platform?(*names)
    names.flatten.any? { |one| one.to_s == self["platform"] }
  end

  def platform_family?(*names)
    names.flatten.any? { |one| one.to_s == self["platform_family"] }
  end

  def value_for_platform_family(given)
    values = spread(given)
    values.fetch(self["platform_family"].to_s) { values["default"] }
  end

  # The exact version first, then the one constraint that fits, then the defaults.
  def value_for_platform(given)
    all = {}
    given.each do |names, values|
      next all["default"] = values if names.to_s == "default"
      raise ArgumentError, "value_for_platform needs a Hash for #{names}" unless values.is_a?(Hash)

      [names].flatten.each { |one| all[one.to_s] = spread(values) }
    end
    values = all[self["platform"].to_s]
    return all["default"] unless values

    version = self["platform_version"].to_s
    return values[version] if values.key?(version)

    fitting = values.keys.select { |one| fits?(one, version) }
    raise "Multiple matches detected for #{self["platform"]} with values #{values}: #{fitting}" if fitting.size > 1

    found = fitting.empty? ? nil : values[fitting[0]]
    found.nil? ? values.fetch("default") { all["default"] } : found
  end

  private

  CONSTRAINT = /\A(=|>=|<=|>|<|~>)? *(\d+(?:\.\d+){0,2})\z/.freeze
  VERSION = /\A\d+(\.\d+){0,2}\z/.freeze

  def spread(values)
    values.flat_map { |keys, value| [keys].flatten.map { |one| [one.to_s, value] } }.to_h
  end

  def fits?(constraint, version)
    return false unless (found = CONSTRAINT.match(constraint)) && VERSION.match?(version)

    ours, asked = [version, found[2]].map { |one| (one.split(".").map(&:to_i) + [0, 0])[0, 3] }
    case found[1]
    when "~>"
      same = found[2].count(".") == 2 ? 2 : 1
      ours[0, same] == asked[0, same] && ours[same] >= asked[same]
    when nil, "=" then ours == asked
    else (ours <=> asked).public_send(found[1], 0)
    end
  end
end
