# A manifest for each module that `python -m tests.oracles.catalog modules` compiles; a heading names the module.

## apache
class { 'apache': default_vhost => false, mpm_module => 'prefork' }
apache::vhost { 'a.example.com': port => 80, docroot => '/srv/a', docroot_owner => 'www-data' }
apache::vhost { 'b.example.com': port => 443, ssl => true, docroot => '/srv/b' }
include apache::mod::php
include apache::mod::rewrite
user { 'deploy': gid => 'www-data' }

## apt
include apt
apt::source { 'x': location => 'http://x/debian', repos => 'main' } -> package { 'y': }

## concat
file { '/tmp': ensure => directory }
concat { '/tmp/c': owner => 'u' }
user { 'u': }
concat::fragment { ['f', 'g']: target => '/tmp/c', content => 'x' }

## firewall
include firewall
firewallchain { 'X:filter:IPv4': }
firewall { '100 http': proto => 'tcp', dport => 80, action => 'accept', chain => 'X' }

## haproxy
include haproxy
haproxy::listen { 'web': ipaddress => '*', ports => '80' }
haproxy::balancermember { 'one': listening_service => 'web', server_names => 'a', ipaddresses => '192.0.2.9', ports => '80' }

## inifile
file { '/etc/x': ensure => directory }
file { '/etc/x/a.ini': }
ini_setting { 'a': path => '/etc/x/a.ini', section => 's', setting => 'k', value => 'v' }
ini_subsetting { 'b': path => '/etc/x/a.ini', section => 's', setting => 'l', subsetting => 'm' }

## keystone
include keystone
class { 'keystone::bootstrap': password => 'x' }
keystone_tenant { 't': domain => 'Default' }

## memcached
include memcached

## mongodb
include mongodb::server
mongodb_database { 'd': }
mongodb_user { 'u': database => 'd', password_hash => 'x' }

## mysql
class { 'mysql::server': root_password => 'x', override_options => { mysqld => { port => 3307 } } }
mysql::db { 'shop': user => 'shop', password => 'p', host => 'localhost', grant => ['SELECT'] }
mysql_plugin { 'auth_socket': soname => 'auth_socket.so' }

## ntp
include ntp

## postgresql
class { 'postgresql::globals': version => '15' } -> class { 'postgresql::server': }
postgresql::server::db { 'shop': user => 'shop', password => 'p' }
postgresql::server::config_entry { 'max_connections': value => '50' }

## rabbitmq
class { 'rabbitmq': }
rabbitmq_vhost { 'v': }
rabbitmq_user { 'u': password => 'p' }
rabbitmq_user_permissions { 'u@v': configure_permission => '.*' }
rabbitmq_exchange { 'e@v': user => 'u', password => 'p', type => 'topic' }
rabbitmq_queue { 'q@v': user => 'u', password => 'p' }
rabbitmq_binding { 'e@q@v': user => 'u', password => 'p', destination_type => 'queue', routing_key => '#' }

## redis
include redis

## rsync
include rsync::server
rsync::server::module { 'm': path => '/srv/m' }
file { '/srv/m': ensure => directory }

## ssh
include ssh
ssh_authorized_key { 'k': user => 'deploy', type => 'ssh-rsa', key => 'AAAA' }
user { 'deploy': }

## systemd
include systemd
systemd::unit_file { 'x.service': content => '[Unit]', enable => true, active => true }

## tftp
include tftp

## xinetd
include xinetd
xinetd::service { 'x': port => '7', server => '/bin/x' }

## staging
include staging
staging::file { 'x': source => 'http://x/x' }

## stdlib
file { '/etc/y': }
file_line { 'l': path => '/etc/y', line => 'z' }
anchor { 'a': } -> File['/etc/y']

## cron_core
user { 'u': }
cron { 'c': command => '/bin/c', user => 'u' }
file { '/bin/c': }
mount { '/srv': device => 'x', fstype => 'ext4', ensure => mounted }
file { '/srv/a': }
host { 'h': ip => '192.0.2.1' }
