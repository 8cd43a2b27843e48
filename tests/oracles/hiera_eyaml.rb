# Encrypts with the real hiera-eyaml: makes a pair of keys in a folder; a JSON list of texts in, one of ENC[...] out.
require 'json'
require 'hiera/backend/eyaml/encryptors/pkcs7'
require 'hiera/backend/eyaml/options'
require 'hiera/backend/eyaml'

folder = ARGV.fetch(0)
options = { 'pkcs7_private_key' => "#{folder}/private.pem", 'pkcs7_public_key' => "#{folder}/public.pem" }
defaults = { 'pkcs7_keysize' => 2048, 'pkcs7_subject' => '/', 'pkcs7_digest' => 'SHA256' }
Hiera::Backend::Eyaml::Options.set(defaults.merge(options))
Hiera::Backend::Eyaml.verbosity_level = 0
pkcs7 = Hiera::Backend::Eyaml::Encryptors::Pkcs7
$stdout.sync = true
answers = $stdout.dup
$stdout.reopen($stderr)
pkcs7.create_keys
texts = JSON.parse($stdin.read)
answers.puts JSON.generate(texts.map { |text| "ENC[PKCS7,#{pkcs7.encode(pkcs7.encrypt(text)).gsub(/\s/, '')}]" })
