# What the programs that ask the real Chef have in common: values for JSON, and a process for each question.

ANSWERS = $stdout.dup
$stdout.reopen($stderr)

# A tree for JSON. read: a deferred value is computed; else a word stands for it. The block makes the text of other values.
def plain(value, read = false, &text)
  case value
  when Chef::DelayedEvaluator then read ? plain(value.call, true, &text) : { "$lazy" => true }
  when Hash then value.each_with_object({}) { |(key, one), made| made[key.to_s] = plain(one, read, &text) }
  when Array then value.each_with_object([]) { |one, made| made << plain(one, read, &text) }
  when nil, true, false, Integer, Float then value
  else text ? text.call(value.to_s) : value.to_s
  end
end

# Answers each line of standard input by the block, in a child that has loaded Chef; {} where the child ended.
def serve
  $stdin.each_line do |line|
    input, output = IO.pipe
    child = fork do
      output.write(JSON.generate(yield(JSON.parse(line))))
      output.close
      exit!(0)
    end
    output.close
    text = input.read
    Process.wait(child)
    ANSWERS.puts(text.empty? ? "{}" : text)
    ANSWERS.flush
  end
end
