# frozen_string_literal: true

# What else of Chef an attribute file or a cookbook's library names: enough of it to be loaded, and a log.
require "tmpdir"
{ SecureRandom: "securerandom", OpenSSL: "openssl", Tempfile: "tempfile", Pathname: "pathname", URI: "uri", YAML: "yaml",
  Digest: "digest", ERB: "erb", Set: "set", OpenStruct: "ostruct", Shellwords: "shellwords", Etc: "etc", Socket: "socket",
  IPAddr: "ipaddr", Timeout: "timeout", Singleton: "singleton" }.each { |name, file| autoload name, file }

module Kernel
  alias require_without_chef require
  private :require_without_chef

  def require(name)
    return true if name.to_s.match?(%r{\A(chef/|chef\z|mixlib/shellout)})

    require_without_chef(name).tap { Guard.close_sockets }
  end
end

# YAML is loaded at the first use, and defines the method anew.
class Object
  def to_yaml(*options)
    require "yaml"
    to_yaml(*options)
  end
end

class Chef
  VERSION = "18.0.0"
  CHEF_ROOT = "/opt/chef/lib"

  module JSONCompat
    class << self
      def parse(text, *)
        require "json"
        JSON.parse(text)
      end
      alias from_json parse

      def to_json(value, *)
        require "json"
        JSON.generate(value)
      end

      def to_json_pretty(value, *)
        require "json"
        JSON.pretty_generate(value)
      end
    end
  end

  class DataBagItem
    def self.load(bag, item)
      Node::RUNNING.data_bag_item(bag, item)
    end
  end

  # A class of Chef's that stands for nothing: whatever its body calls is passed over.
  class StandIn
    # A value that only Chef has: without it nothing of what follows would be right.
    GIVING = %i[checksum_for_file checksum generate_checksum instance list load load_or_create].freeze

    def self.method_missing(name, *)
      Guard.refuse("#{self}.#{name}, which needs Chef") if GIVING.include?(name)
    end

    def self.respond_to_missing?(*)
      true
    end

    def self.const_missing(name)
      const_set(name, Class.new(StandIn))
    end
  end

  def self.const_missing(name)
    const_set(name, name == :Config ? settings : Class.new(StandIn))
  end

  %i[DSL Mixin].each do |name|
    const_set(name, Module.new do
      def self.const_missing(name)
        const_set(name, Module.new)
      end
    end)
  end

  module Mixin
    # Maps meet key by key, lists are united, and anything else is replaced.
    module DeepMerge
      def self.merge(first, second)
        deep_merge(Mash.new(second), Mash.new(first))
      end

      def self.deep_merge(source, dest)
        return dest | source if source.is_a?(Array) && dest.is_a?(Array)
        return source unless source.is_a?(Hash) && dest.is_a?(Hash)

        source.each_with_object(dest.dup) do |(key, value), merged|
          merged[key] = merged.key?(key) ? deep_merge(value, merged[key]) : value
        end
      end
    end
  end

  # A version of two or three numbers.
  class Version
    include Comparable
    attr_reader :major, :minor, :patch

    def initialize(text = "")
      raise ArgumentError, "'#{text}' does not match 'x.y.z' or 'x.y'" unless text.to_s.match?(/\A\d+\.\d+(\.\d+)?\z/)

      @major, @minor, @patch = *text.to_s.split(".").map(&:to_i), 0
    end

    def <=>(other)
      [major, minor, patch] <=> [other.major, other.minor, other.patch] if other.is_a?(Version)
    end

    def to_s
      "#{major}.#{minor}.#{patch}"
    end
    alias inspect to_s
  end

  class Provider < StandIn; end

  module Log
    class << self
      %w[fatal error warn info].each do |level|
        define_method(level) { |message = nil, &block| Wire.note("log", level, (message || block&.call).to_s, *Wire.place) }
      end

      def debug(*) end
      alias trace debug

      def level
        :info
      end
    end
  end

  # Settings of a client that nobody has configured, where chef-config is not installed.
  class Settings
    KNOWN = {
      file_cache_path: "/var/chef/cache", cache_path: "/var/chef", file_backup_path: "/var/chef/backup", log_level: :auto,
      chef_server_url: "https://localhost:443", solo: false, solo_legacy_mode: false, local_mode: false,
      validation_client_name: "chef-validator"
    }.freeze

    def [](name)
      KNOWN[name.to_sym]
    end

    def method_missing(name, *)
      KNOWN[name]
    end

    def respond_to_missing?(*)
      true
    end
  end

  def self.settings
    require "chef-config/config"
    ChefConfig::Config
  rescue LoadError
    Settings.new
  end
end
