module example.org/forked/clock

go 1.23
