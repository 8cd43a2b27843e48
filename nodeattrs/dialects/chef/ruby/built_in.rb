# frozen_string_literal: true

# The resources that Chef Infra 19 has by itself, by name, for what declares them to be told from a mistake.
module BuiltIn
  NAMES = %w[
    aix_user alternatives apt_package apt_preference apt_repository apt_update archive_file bash batch
    bff_package breakpoint build_essential cab_package chef_client_config chef_client_cron
    chef_client_hab_ca_cert chef_client_launchd chef_client_scheduled_task chef_client_systemd_timer
    chef_client_trusted_certificate chef_gem chef_handler chef_sleep chef_vault_secret chocolatey_config
    chocolatey_feature chocolatey_installer chocolatey_package chocolatey_source cookbook_file cron
    cron_access cron_d cron_manage csh directory dmg_package dnf_package dpkg_package dsc_resource
    dsc_script env execute file freebsd_package gem_package git group habitat_config habitat_install
    habitat_package habitat_service habitat_sup habitat_sup_systemd habitat_sup_windows habitat_user_toml
    homebrew_cask homebrew_package homebrew_tap homebrew_update hostname http_request ifconfig inspec_input
    inspec_waiver inspec_waiver_file_entry ips_package kernel_module ksh launchd libarchive_file link
    linux_user locale log mac_os_x_userdefaults mac_user macos_pkg macos_userdefaults macosx_service
    macports_package mdadm mount msu_package notify_group ohai ohai_hint openbsd_package openssl_dhparam
    openssl_ec_private_key openssl_ec_public_key openssl_rsa_key openssl_rsa_private_key
    openssl_rsa_public_key openssl_x509 openssl_x509_certificate openssl_x509_crl openssl_x509_request
    package pacman_package paludis_package perl plist portage_package powershell_package
    powershell_package_source powershell_script pw_user python reboot registry_key remote_directory
    remote_file rhsm_errata rhsm_errata_level rhsm_register rhsm_repo rhsm_subscription route rpm_package
    ruby ruby_block script selinux_boolean selinux_fcontext selinux_install selinux_login selinux_module
    selinux_permissive selinux_port selinux_state selinux_user service smartos_package snap_package
    solaris_package solaris_user ssh_known_hosts_entry subversion sudo swap_file sysctl sysctl_param
    systemd_unit template timezone user user_ulimit whyrun_safe_ruby_block windows_ad_join
    windows_audit_policy windows_auto_run windows_certificate windows_defender windows_defender_exclusion
    windows_dfs_folder windows_dfs_namespace windows_dfs_server windows_dns_record windows_dns_zone
    windows_env windows_feature windows_feature_dism windows_feature_powershell windows_firewall_profile
    windows_firewall_rule windows_font windows_package windows_pagefile windows_path windows_printer
    windows_printer_port windows_security_policy windows_service windows_share windows_shortcut windows_task
    windows_uac windows_update_settings windows_user windows_user_privilege windows_workgroup yum_package
    yum_repository zypper_package zypper_repo zypper_repository
  ].to_h { |name| [name.to_sym, true] }.freeze
end
