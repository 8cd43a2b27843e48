# frozen_string_literal: true

# The words that recipes and resources share: what the node answers, and what declares and finds resources.
class Chef
  # What is asked of the machine or a server is not answered here.
  module Asking
    %w[shell_out shell_out! shell_out_with_systems_locale shell_out_with_systems_locale! shell_out_compacted
       shell_out_compacted! powershell_out powershell_out! powershell_exec powershell_exec! registry_key_exists?
       registry_get_values registry_get_subkeys registry_has_subkeys? registry_value_exists? registry_data_exists?
       reboot_pending? which where systemd? chef_vault chef_vault_item chef_vault_item_for_environment secret].each do |name|
      define_method(name) { |*given, **| Guard.refuse(Guard.shown(name, given)) }
    end
  end

  module Words
    include Asking
    Platforms.public_instance_methods.each do |name|
      define_method(name) { |*given| Node::RUNNING.public_send(name, *given) }
    end
    %w[data_bag data_bag_item search].each do |name|
      define_method(name) { |*given, **more, &block| Node::RUNNING.public_send(name, *given, **more, &block) }
    end

    def node
      Node::RUNNING
    end

    def run_context
      RunContext::RUNNING
    end

    def tagged?(*names)
      node.tagged?(*names)
    end
  end

  # Resources by type and name.
  module Declaring
    def with_run_context(*)
      yield
    end

    def resources(*named)
      run_context.resource_collection.find(*named)
    end

    def find_resource!(type, name, **)
      run_context.resource_collection.find(type => name)
    end

    def find_resource(type, name, **, &block)
      found = run_context.resource_collection.named(type, name)
      found || (declare_resource(type, name, &block) if block)
    end

    def edit_resource!(type, name, **, &block)
      find_resource!(type, name).edit(block)
    end

    def edit_resource(type, name, **, &block)
      found = run_context.resource_collection.named(type, name)
      found ? found.edit(block) : declare_resource(type, name, &block)
    end

    def delete_resource!(type, name, **)
      run_context.resource_collection.delete(find_resource!(type, name))
    end

    def delete_resource(type, name, **)
      run_context.resource_collection.delete(run_context.resource_collection.named(type, name))
    end

    def declare_resource(type, name = nil, **, &block)
      build_resource(type, name, &block).tap { |one| run_context.resource_collection.insert(one) }
    end

    def build_resource(type, name = nil, **, &block)
      Resource.of(type, name, self).tap do |made|
        made.instance_exec(&block) if block
        made.after_created
        [made.action].flatten.each { |action| made.run_action(action) } if made.compile_time
      end
    end
  end
end
