module example.com/depot

go 1.22

require example.com/clock v1.2.0

replace example.com/clock => ./third/clock
