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

# A version that is compared as one: Chef::VERSION >= "9".
class VersionText < String
  def self.name
    "ChefUtils::VersionString"
  end

  include Comparable
  def <=>(other)
    Gem::Version.new(to_s) <=> Gem::Version.new(other.to_s)
  rescue ArgumentError
    super
  end
end

class Chef
  VERSION = VersionText.new("19.4.14").freeze
  CHEF_ROOT = "/opt/chef/lib"

  class JSONCompat
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

  # An item of a data bag, as a map.
  class DataBagItem < Mash
    attr_accessor :data_bag

    def self.load(bag, item)
      Node::RUNNING.data_bag_item(bag, item)
    end

    def raw_data
      Mash.new(self)
    end

    def to_hash
      {}.merge(self).merge("chef_type" => "data_bag_item", "data_bag" => data_bag)
    end
    alias to_h to_hash

    def id
      self["id"]
    end
  end
  EncryptedDataBagItem = DataBagItem

  class DataBag
    def self.list
      Wire.ask("data_bags", *Wire.place).to_h { |bag| [bag, bag] }
    end

    def self.load(bag)
      Node::RUNNING.data_bag(bag).to_h { |item| [item, Node::RUNNING.data_bag_item(bag, item).raw_data] }
    end
  end

  # The sum of a file of the repository.
  class Digester
    class << self
      def instance
        self
      end

      def checksum_for_file(file)
        path = File.realpath(file)
        Guard.refuse("Chef::Digester of #{file}, which is no file of the repository") unless path.start_with?(Wire.root)
        Digest::SHA256.file(path).hexdigest
      end
      alias generate_checksum checksum_for_file
    end
  end

  # A class of Chef's that stands for nothing: what the body of a class below it calls is passed over. What it would
  # give, or do, itself is not known.
  class StandIn
    PASSED = %i[set register priority_map extend reset!].freeze

    class << self
      attr_accessor :is_named

      def method_missing(name, *)
        Guard.refuse("#{self}.#{name}, which needs Chef") if is_named && !PASSED.include?(name)
      end

      def respond_to_missing?(*)
        true
      end

      def const_missing(name)
        const_set(name, StandIn.named)
      end

      def named
        Class.new(StandIn) { self.is_named = true }
      end
    end

    def method_missing(name, *)
      Guard.refuse("#{self.class}##{name}, which needs Chef")
    end

    def respond_to_missing?(*)
      false
    end
  end

  # Names that Chef itself has no more.
  GONE = %i[Knife Mash].freeze

  def self.const_missing(name)
    GONE.include?(name) ? super : const_set(name, StandIn.named)
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

  # ">= 1.2", "~> 3.0"
  class VersionConstraint
    attr_reader :op, :version

    def initialize(text = ">= 0.0.0")
      found = Platforms::CONSTRAINT.match(text.to_s)
      raise Exceptions::InvalidVersionConstraint, "'#{text}' is no constraint" unless found

      @text, @op, @version = text, found[1] || "=", found[2]
    end

    def include?(other)
      Node::RUNNING.send(:fits?, @text, (other.respond_to?(:version) ? other.version : other).to_s)
    end

    def to_s
      "#{op} #{version}"
    end
    alias inspect to_s
    const_set(:Platform, self)
  end

  # What machine this is, is what the node says.
  class Platform
    def self.windows?
      Node::RUNNING["platform_family"] == "windows"
    end

    def self.method_missing(name, *)
      Guard.refuse("Chef::Platform.#{name}, which is not known here") unless StandIn::PASSED.include?(name)
    end

    def self.respond_to_missing?(*)
      true
    end
  end

  class Log
    class << self
      %w[fatal error warn info].each do |level|
        define_method(level) { |message = nil, &block| Wire.note("log", level, (message || block&.call).to_s, *Wire.place) }
      end

      def debug(*) end
      alias trace debug

      def level
        :info
      end

      def with_child(*)
        Mixlib::Log::Child.new
      end
    end
  end

  # Parts of Chef that no run on another system than Windows has.
  class Util
    def self.const_missing(name)
      name == :Windows && !Platform.windows? ? super : const_set(name, StandIn.named)
    end
  end

  # Settings of a client that nobody has configured.
  Config = Class.new do
    KNOWN = {
      file_cache_path: "/var/chef/cache", cache_path: "/var/chef", file_backup_path: "/var/chef/backup", log_level: :auto,
      chef_server_url: "https://localhost:443", chef_server_root: "https://localhost:443", chef_repo_path: "/var/chef",
      cookbook_path: "/var/chef/cookbooks", data_bag_path: "/var/chef/data_bags", role_path: "/var/chef/roles",
      environment_path: "/var/chef/environments", node_path: "/var/chef/nodes", client_key: "/etc/chef/client.pem",
      validation_key: "/etc/chef/validation.pem", validation_client_name: "chef-validator", solo: false,
      solo_legacy_mode: false, local_mode: false, why_run: false, fips: false, http_proxy: nil, https_proxy: nil,
      no_proxy: nil, ftp_proxy: nil, encrypted_data_bag_secret: nil, ssl_verify_mode: :verify_peer, rest_timeout: 300,
      http_retry_count: 5, http_retry_delay: 5, interval: nil, splay: nil, daemonize: nil, verify_api_cert: false,
      file_atomic_update: true, umask: 18, user: nil, group: nil, log_location: nil, pid_file: nil, json_attribs: nil,
      chef_guid: nil, policy_name: nil, policy_group: nil, named_run_list: nil, lockfile: "/var/chef/cache/chef-client-running.pid"
    }.dup

    def [](name)
      KNOWN.fetch(name.to_sym) do
        name.to_sym == :node_name ? Node::RUNNING.name : Guard.refuse("Chef::Config[#{name.inspect}], which is not known here")
      end
    end

    def []=(name, value)
      KNOWN[name.to_sym] = value
    end

    def key?(name)
      KNOWN.key?(name.to_sym)
    end

    def method_missing(name, *given)
      return self[name.to_s.chomp("=")] = given[0] unless given.empty?

      self[name]
    end

    def respond_to_missing?(*)
      true
    end
  end.new
end

# What reads a machine's facts is not here.
module Ohai
  def self.const_missing(name)
    const_set(name, Chef::StandIn.named)
  end
end
