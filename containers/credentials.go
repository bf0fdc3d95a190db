package containers

type dockerConfigs struct{}

func readDockerConfigs(config Config) (dockerConfigs, error) { return dockerConfigs{}, nil }
