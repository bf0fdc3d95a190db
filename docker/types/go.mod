// A module of its own, so that the folder builds alone in its image and is no part of stopwatt.
module types

go 1.26
