// Package safetext makes the text of a guest safe to show: it replaces invalid UTF-8,
// escapes control characters and those that change the direction of writing, and
// cuts text between characters. Package printable does the same for text of other
// sources; plugins see these escapes in what they wrote, so docs/abi.md fixes them.
package safetext
