module example.com/depot

go 1.23

require example.com/clock v1.2.0

replace example.com/clock => ./third/clock
