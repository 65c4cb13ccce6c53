/** VERSION is what we call ourselves on the wire; a test keeps it equal to package.json. */
export const VERSION = '0.1.0'
