# say.rb PORT - the same conversation as the other clients, with ruby-redis.
require "redis"

def show(answer)
  case answer
  when nil then "nil"
  when Array then "[" + answer.map { |part| show(part) }.join(" ") + "]"
  else answer.to_s
  end
end

server = Redis.new(port: ARGV[0].to_i, read_timeout: 30)
$stdin.each_line do |line|
  begin
    puts show(server.call(line.split))
  rescue Redis::CommandError => e
    puts "error: " + e.message.sub(/\AERR /, "")
  end
end
