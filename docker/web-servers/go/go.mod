// A module of its own, so that the folder builds alone in its image and is no part of stopwatt.
module webserver

go 1.26
