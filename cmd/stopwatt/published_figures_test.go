package main

// The experiments that stopwatt was built for, as their authors published them:
// the figures that they measured, and what they computed from these. Here are
// figures alone; where they were published stands beside each.

// A published experiment has a CSV of what was measured and the values that were
// computed from it.
type published struct {
	csv      string
	computed []publishedValue
}

// A publishedValue is what somebody computed from two figures.
type publishedValue struct {
	workload       string // with its machine, where there are several
	implementation string
	baseline       string
	as             publishedAs
	value          string // as published: its last digit is rounded
}

// publishedAs is what was computed.
type publishedAs string

// What people publish of a value and its baseline's.
const (
	ratio  publishedAs = "ratio"  // value by baseline
	times  publishedAs = "times"  // baseline by value
	faster publishedAs = "faster" // per cent of the baseline that are saved
	slower publishedAs = "slower" // per cent of the baseline that are added
)

// publishedTypes is "Timing Comparison of Different Rholang Type
// Implementations", an issue by hilltracer in github.com/hilltracer/rhonix. The
// captions of the last two columns of its relative table are swapped; here each
// value stands under the implementation that it belongs to. ? is no ratio.
var publishedTypes = published{
	csv: `workload,implementation,metric,unit,value
nestedAdd,imperative,time,ns/op,30
nestedAdd,eval,time,ns/op,801
nestedAdd,hash-refactoring,time,ns/op,795
nestedAdd,lazy-params,time,ns/op,555
nestedAdd,hash-sort-fix,time,ns/op,505
nestedAdd,old-proto,time,ns/op,2462
nestedCreation,imperative,time,ns/op,132
nestedCreation,eval,time,ns/op,7762
nestedCreation,hash-refactoring,time,ns/op,1234
nestedCreation,lazy-params,time,ns/op,256
nestedCreation,hash-sort-fix,time,ns/op,266
nestedCreation,old-proto,time,ns/op,1653
nestedDeserialization,imperative,time,ns/op,798
nestedDeserialization,eval,time,ns/op,22046
nestedDeserialization,hash-refactoring,time,ns/op,15689
nestedDeserialization,lazy-params,time,ns/op,12326
nestedDeserialization,hash-sort-fix,time,ns/op,11866
nestedDeserialization,old-proto,time,ns/op,84610
nestedEqual,imperative,time,ns/op,12938
nestedEqual,eval,time,ns/op,36646
nestedEqual,hash-refactoring,time,ns/op,60264
nestedEqual,lazy-params,time,ns/op,55392
nestedEqual,hash-sort-fix,time,ns/op,53400
nestedEqual,old-proto,time,ns/op,127352
nestedHash,imperative,time,ns/op,6680
nestedHash,eval,time,ns/op,23933
nestedHash,hash-refactoring,time,ns/op,28832
nestedHash,lazy-params,time,ns/op,27696
nestedHash,hash-sort-fix,time,ns/op,27358
nestedHash,old-proto,time,ns/op,111603
nestedSerialization,imperative,time,ns/op,1329
nestedSerialization,eval,time,ns/op,24687
nestedSerialization,hash-refactoring,time,ns/op,29840
nestedSerialization,lazy-params,time,ns/op,24060
nestedSerialization,hash-sort-fix,time,ns/op,24249
nestedSerialization,old-proto,time,ns/op,495804
nestedSerializedSize,imperative,time,ns/op,1039
nestedSerializedSize,eval,time,ns/op,20157
nestedSerializedSize,hash-refactoring,time,ns/op,22501
nestedSerializedSize,lazy-params,time,ns/op,24582
nestedSerializedSize,hash-sort-fix,time,ns/op,18958
nestedSerializedSize,old-proto,time,ns/op,221884
nestedSort,imperative,time,ns/op,0
nestedSort,eval,time,ns/op,0
nestedSort,hash-refactoring,time,ns/op,0
nestedSort,lazy-params,time,ns/op,0
nestedSort,hash-sort-fix,time,ns/op,0
nestedSort,old-proto,time,ns/op,600
parProcAdd,imperative,time,ns/op,688
parProcAdd,eval,time,ns/op,2357
parProcAdd,hash-refactoring,time,ns/op,3243
parProcAdd,lazy-params,time,ns/op,1418
parProcAdd,hash-sort-fix,time,ns/op,1283
parProcAdd,old-proto,time,ns/op,4564
parProcCreation,imperative,time,ns/op,3196
parProcCreation,eval,time,ns/op,256136
parProcCreation,hash-refactoring,time,ns/op,22751
parProcCreation,lazy-params,time,ns/op,5454
parProcCreation,hash-sort-fix,time,ns/op,7428
parProcCreation,old-proto,time,ns/op,60028
parProcDeserialization,imperative,time,ns/op,5750
parProcDeserialization,eval,time,ns/op,368286
parProcDeserialization,hash-refactoring,time,ns/op,162226
parProcDeserialization,lazy-params,time,ns/op,140070
parProcDeserialization,hash-sort-fix,time,ns/op,125850
parProcDeserialization,old-proto,time,ns/op,1860300
parProcEqual,imperative,time,ns/op,144537
parProcEqual,eval,time,ns/op,877292
parProcEqual,hash-refactoring,time,ns/op,1739671
parProcEqual,lazy-params,time,ns/op,1599484
parProcEqual,hash-sort-fix,time,ns/op,1415824
parProcEqual,old-proto,time,ns/op,4125678
parProcHash,imperative,time,ns/op,72698
parProcHash,eval,time,ns/op,505647
parProcHash,hash-refactoring,time,ns/op,905210
parProcHash,lazy-params,time,ns/op,812671
parProcHash,hash-sort-fix,time,ns/op,693946
parProcHash,old-proto,time,ns/op,2471579
parProcSerialization,imperative,time,ns/op,86242
parProcSerialization,eval,time,ns/op,758205
parProcSerialization,hash-refactoring,time,ns/op,1044429
parProcSerialization,lazy-params,time,ns/op,1126453
parProcSerialization,hash-sort-fix,time,ns/op,936897
parProcSerialization,old-proto,time,ns/op,10883799
parProcSerializedSize,imperative,time,ns/op,11316
parProcSerializedSize,eval,time,ns/op,171095
parProcSerializedSize,hash-refactoring,time,ns/op,159688
parProcSerializedSize,lazy-params,time,ns/op,155002
parProcSerializedSize,hash-sort-fix,time,ns/op,132452
parProcSerializedSize,old-proto,time,ns/op,5671441
parProcSort,imperative,time,ns/op,0
parProcSort,eval,time,ns/op,0
parProcSort,hash-refactoring,time,ns/op,0
parProcSort,lazy-params,time,ns/op,0
parProcSort,hash-sort-fix,time,ns/op,0
parProcSort,old-proto,time,ns/op,588
manyAppends,imperative,time,ns/op,15029
manyAppends,eval,time,ns/op,281207
manyAppends,hash-refactoring,time,ns/op,49189
manyAppends,lazy-params,time,ns/op,29093
manyAppends,hash-sort-fix,time,ns/op,26935
manyAppends,old-proto,time,ns/op,56772
`,
	computed: []publishedValue{
		{"nestedAdd", "eval", "imperative", ratio, "26.64"},
		{"nestedAdd", "hash-refactoring", "imperative", ratio, "26.44"},
		{"nestedAdd", "lazy-params", "imperative", ratio, "18.47"},
		{"nestedAdd", "hash-sort-fix", "imperative", ratio, "16.79"},
		{"nestedAdd", "old-proto", "imperative", ratio, "81.89"},
		{"nestedCreation", "eval", "imperative", ratio, "58.80"},
		{"nestedCreation", "hash-refactoring", "imperative", ratio, "9.34"},
		{"nestedCreation", "lazy-params", "imperative", ratio, "1.94"},
		{"nestedCreation", "hash-sort-fix", "imperative", ratio, "2.02"},
		{"nestedCreation", "old-proto", "imperative", ratio, "12.52"},
		{"nestedDeserialization", "eval", "imperative", ratio, "27.61"},
		{"nestedDeserialization", "hash-refactoring", "imperative", ratio, "19.65"},
		{"nestedDeserialization", "lazy-params", "imperative", ratio, "15.44"},
		{"nestedDeserialization", "hash-sort-fix", "imperative", ratio, "14.86"},
		{"nestedDeserialization", "old-proto", "imperative", ratio, "105.98"},
		{"nestedEqual", "eval", "imperative", ratio, "2.83"},
		{"nestedEqual", "hash-refactoring", "imperative", ratio, "4.66"},
		{"nestedEqual", "lazy-params", "imperative", ratio, "4.28"},
		{"nestedEqual", "hash-sort-fix", "imperative", ratio, "4.13"},
		{"nestedEqual", "old-proto", "imperative", ratio, "9.84"},
		{"nestedHash", "eval", "imperative", ratio, "3.58"},
		{"nestedHash", "hash-refactoring", "imperative", ratio, "4.32"},
		{"nestedHash", "lazy-params", "imperative", ratio, "4.15"},
		{"nestedHash", "hash-sort-fix", "imperative", ratio, "4.10"},
		{"nestedHash", "old-proto", "imperative", ratio, "16.71"},
		{"nestedSerialization", "eval", "imperative", ratio, "18.58"},
		{"nestedSerialization", "hash-refactoring", "imperative", ratio, "22.46"},
		{"nestedSerialization", "lazy-params", "imperative", ratio, "18.11"},
		{"nestedSerialization", "hash-sort-fix", "imperative", ratio, "18.25"},
		{"nestedSerialization", "old-proto", "imperative", ratio, "373.11"},
		{"nestedSerializedSize", "eval", "imperative", ratio, "19.41"},
		{"nestedSerializedSize", "hash-refactoring", "imperative", ratio, "21.66"},
		{"nestedSerializedSize", "lazy-params", "imperative", ratio, "23.67"},
		{"nestedSerializedSize", "hash-sort-fix", "imperative", ratio, "18.25"},
		{"nestedSerializedSize", "old-proto", "imperative", ratio, "213.61"},
		{"nestedSort", "eval", "imperative", ratio, "1.00"},
		{"nestedSort", "hash-refactoring", "imperative", ratio, "1.00"},
		{"nestedSort", "lazy-params", "imperative", ratio, "1.00"},
		{"nestedSort", "hash-sort-fix", "imperative", ratio, "1.00"},
		{"nestedSort", "old-proto", "imperative", ratio, "?"},
		{"parProcAdd", "eval", "imperative", ratio, "3.43"},
		{"parProcAdd", "hash-refactoring", "imperative", ratio, "4.71"},
		{"parProcAdd", "lazy-params", "imperative", ratio, "2.06"},
		{"parProcAdd", "hash-sort-fix", "imperative", ratio, "1.87"},
		{"parProcAdd", "old-proto", "imperative", ratio, "6.63"},
		{"parProcCreation", "eval", "imperative", ratio, "80.13"},
		{"parProcCreation", "hash-refactoring", "imperative", ratio, "7.12"},
		{"parProcCreation", "lazy-params", "imperative", ratio, "1.71"},
		{"parProcCreation", "hash-sort-fix", "imperative", ratio, "2.32"},
		{"parProcCreation", "old-proto", "imperative", ratio, "18.78"},
		{"parProcDeserialization", "eval", "imperative", ratio, "64.05"},
		{"parProcDeserialization", "hash-refactoring", "imperative", ratio, "28.21"},
		{"parProcDeserialization", "lazy-params", "imperative", ratio, "24.36"},
		{"parProcDeserialization", "hash-sort-fix", "imperative", ratio, "21.89"},
		{"parProcDeserialization", "old-proto", "imperative", ratio, "323.54"},
		{"parProcEqual", "eval", "imperative", ratio, "6.07"},
		{"parProcEqual", "hash-refactoring", "imperative", ratio, "12.04"},
		{"parProcEqual", "lazy-params", "imperative", ratio, "11.07"},
		{"parProcEqual", "hash-sort-fix", "imperative", ratio, "9.80"},
		{"parProcEqual", "old-proto", "imperative", ratio, "28.54"},
		{"parProcHash", "eval", "imperative", ratio, "6.96"},
		{"parProcHash", "hash-refactoring", "imperative", ratio, "12.45"},
		{"parProcHash", "lazy-params", "imperative", ratio, "11.18"},
		{"parProcHash", "hash-sort-fix", "imperative", ratio, "9.55"},
		{"parProcHash", "old-proto", "imperative", ratio, "34.00"},
		{"parProcSerialization", "eval", "imperative", ratio, "8.79"},
		{"parProcSerialization", "hash-refactoring", "imperative", ratio, "12.11"},
		{"parProcSerialization", "lazy-params", "imperative", ratio, "13.06"},
		{"parProcSerialization", "hash-sort-fix", "imperative", ratio, "10.86"},
		{"parProcSerialization", "old-proto", "imperative", ratio, "126.20"},
		{"parProcSerializedSize", "eval", "imperative", ratio, "15.12"},
		{"parProcSerializedSize", "hash-refactoring", "imperative", ratio, "14.11"},
		{"parProcSerializedSize", "lazy-params", "imperative", ratio, "13.70"},
		{"parProcSerializedSize", "hash-sort-fix", "imperative", ratio, "11.70"},
		{"parProcSerializedSize", "old-proto", "imperative", ratio, "501.17"},
		{"parProcSort", "eval", "imperative", ratio, "1.00"},
		{"parProcSort", "hash-refactoring", "imperative", ratio, "1.00"},
		{"parProcSort", "lazy-params", "imperative", ratio, "1.00"},
		{"parProcSort", "hash-sort-fix", "imperative", ratio, "1.00"},
		{"parProcSort", "old-proto", "imperative", ratio, "?"},
		{"manyAppends", "eval", "imperative", ratio, "18.71"},
		{"manyAppends", "hash-refactoring", "imperative", ratio, "3.27"},
		{"manyAppends", "lazy-params", "imperative", ratio, "1.94"},
		{"manyAppends", "hash-sort-fix", "imperative", ratio, "1.79"},
		{"manyAppends", "old-proto", "imperative", ratio, "3.78"},
	},
}

// publishedWasm is "pa'i Benchmarks", christine.website, 26 March 2020.
var publishedWasm = published{
	csv: `workload,machine,implementation,metric,unit,value
cpustrain,Ryzen 5 3600,cwa,time,s,2.392
cpustrain,Ryzen 5 3600,pahi-no-cache,time,s,0.0386
cpustrain,Ryzen 5 3600,pahi,time,s,0.0177
cpustrain,Intel Xeon E5-1650,cwa,time,s,7.652
cpustrain,Intel Xeon E5-1650,pahi-no-cache,time,s,0.0993
cpustrain,Intel Xeon E5-1650,pahi,time,s,0.0537
bigjson,Ryzen 5 3600,cwa,time,s,0.257
bigjson,Ryzen 5 3600,pahi-no-cache,time,s,0.0494
bigjson,Ryzen 5 3600,pahi,time,s,0.0204
bigjson,Intel Xeon E5-1650,cwa,time,s,0.9355
bigjson,Intel Xeon E5-1650,pahi-no-cache,time,s,0.1354
bigjson,Intel Xeon E5-1650,pahi,time,s,0.1014
k8sparse,Ryzen 5 3600,cwa,time,s,0.2117
k8sparse,Ryzen 5 3600,pahi-no-cache,time,s,0.1253
k8sparse,Ryzen 5 3600,pahi,time,s,0.0085
k8sparse,Intel Xeon E5-1650,cwa,time,s,0.6741
k8sparse,Intel Xeon E5-1650,pahi-no-cache,time,s,0.3427
k8sparse,Intel Xeon E5-1650,pahi,time,s,0.0308
fibber,Ryzen 5 3600,cwa,time,s,0.0136
fibber,Ryzen 5 3600,pahi-no-cache,time,s,0.0137
fibber,Ryzen 5 3600,pahi,time,s,0.0027
fibber,Intel Xeon E5-1650,cwa,time,s,0.041
fibber,Intel Xeon E5-1650,pahi-no-cache,time,s,0.0273
fibber,Intel Xeon E5-1650,pahi,time,s,0.0072
blake2stress,Ryzen 5 3600,cwa,time,s,0.3587
blake2stress,Ryzen 5 3600,pahi-no-cache,time,s,0.0174
blake2stress,Ryzen 5 3600,pahi,time,s,0.005
blake2stress,Intel Xeon E5-1650,cwa,time,s,1.351
blake2stress,Intel Xeon E5-1650,pahi-no-cache,time,s,0.0355
blake2stress,Intel Xeon E5-1650,pahi,time,s,0.0117
`,
	computed: []publishedValue{
		{"Ryzen 5 3600/cpustrain", "pahi", "cwa", times, "135"},
		{"Intel Xeon E5-1650/cpustrain", "pahi", "cwa", times, "142"},
		{"Ryzen 5 3600/bigjson", "pahi", "cwa", times, "12.62"},
		{"Intel Xeon E5-1650/bigjson", "pahi", "cwa", times, "9.22"},
		{"Ryzen 5 3600/k8sparse", "pahi", "cwa", times, "25.04"},
		{"Intel Xeon E5-1650/k8sparse", "pahi", "cwa", times, "21.85"},
		{"Ryzen 5 3600/fibber", "pahi", "cwa", times, "5.13"},
		{"Intel Xeon E5-1650/fibber", "pahi", "cwa", times, "5.70"},
		{"Ryzen 5 3600/blake2stress", "pahi", "cwa", times, "71.76"},
		{"Intel Xeon E5-1650/blake2stress", "pahi", "cwa", times, "115.04"},
	},
}

// publishedInterpreters is "Axiom benchmark results on PyPy", by mithrandi, 2013.
var publishedInterpreters = published{
	csv: `workload,implementation,metric,unit,value
item-creation 15,cpython,time,s/op,0.000159110188484
item-creation 15,pypy,time,s/op,8.7410929203e-05
inmemory-setting,cpython,time,s/op,4.86490821838e-07
inmemory-setting,pypy,time,s/op,1.28742599487e-07
integer-setting,cpython,time,s/op,1.23480038643e-05
integer-setting,pypy,time,s/op,3.80326986313e-06
item-loading 15,cpython,time,s/op,9.09668397903e-05
item-loading 15,pypy,time,s/op,5.70205903053e-05
multiquery-creation 5 15,cpython,time,s/op,5.5426299572e-05
multiquery-creation 5 15,pypy,time,s/op,7.98981904984e-06
query-creation 15,cpython,time,s/op,1.548528409e-05
query-creation 15,pypy,time,s/op,1.56546807289e-06
store-opening 20 15,cpython,time,s/op,0.00140788140297
store-opening 20 15,pypy,time,s/op,0.00202187280655
plain-attribute-setting,cpython,time,s/op,6.1e-08
plain-attribute-setting,pypy,time,s/op,2e-09
item-creation 15 (short run),cpython,time,s/op,0.000164939785004
item-creation 15 (short run),pypy,time,s/op,0.000301389718056
`,
	computed: []publishedValue{
		{"item-creation 15 (short run)", "pypy", "cpython", slower, "83"},
		{"item-creation 15", "pypy", "cpython", faster, "45"},
		{"inmemory-setting", "pypy", "cpython", faster, "74"},
		{"integer-setting", "pypy", "cpython", faster, "69"},
		{"item-loading 15", "pypy", "cpython", faster, "37"},
		{"multiquery-creation 5 15", "pypy", "cpython", faster, "86"},
		{"query-creation 15", "pypy", "cpython", faster, "90"},
		{"store-opening 20 15", "pypy", "cpython", slower, "44"},
	},
}

// publishedSchedulers is "Chameneos.rednux micro benchmark", Edwin Fine on
// erlang-questions, 11 October 2008.
var publishedSchedulers = published{
	csv: `workload,implementation,metric,unit,value
chameneosredux 6000000,smp,wall,s,684.231
chameneosredux 6000000,smp,user,s,1225.933
chameneosredux 6000000,smp,sys,s,109.315
chameneosredux 6000000,smp-hipe,wall,s,559.138
chameneosredux 6000000,smp-hipe,user,s,988.374
chameneosredux 6000000,smp-hipe,sys,s,109.899
chameneosredux 6000000,no-smp,wall,s,7.451
chameneosredux 6000000,no-smp,user,s,7.404
chameneosredux 6000000,no-smp,sys,s,0.048
chameneosredux 6000000,no-smp-hipe,wall,s,6.970
chameneosredux 6000000,no-smp-hipe,user,s,6.864
chameneosredux 6000000,no-smp-hipe,sys,s,0.104
chameneosredux 6000000,smp-one-scheduler-cpu2,wall,s,24.296
chameneosredux 6000000,smp-one-scheduler-cpu2,user,s,24.270
chameneosredux 6000000,smp-one-scheduler-cpu2,sys,s,0.004
chameneosredux 6000000,smp-one-scheduler-cpu2-kernel-poll-off,wall,s,24.006
chameneosredux 6000000,smp-one-scheduler-cpu2-kernel-poll-off,user,s,23.998
chameneosredux 6000000,smp-one-scheduler-cpu2-kernel-poll-off,sys,s,0.012
`,
	computed: []publishedValue{
		{"chameneosredux 6000000", "no-smp", "smp", times, "91.8"},
		{"chameneosredux 6000000", "no-smp-hipe", "smp-hipe", times, "80"},
		{"chameneosredux 6000000", "smp-one-scheduler-cpu2", "no-smp", ratio, "3"},
	},
}
