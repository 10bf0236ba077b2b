"""The scripts of analysis/, one module each with a main()."""
