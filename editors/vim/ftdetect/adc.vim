au BufRead,BufNewFile *.ir setfiletype adc
