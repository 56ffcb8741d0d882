module example.com/depot/tools

go 1.23
