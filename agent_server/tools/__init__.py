"""What the model may do in the workspace, one module per tool."""
