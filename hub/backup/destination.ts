const USER = '(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?'
const HOST = '(?:[A-Za-z0-9][A-Za-z0-9.-]*|\\[[0-9A-Fa-f:.]+\\])'

/**
 * A mounted folder, `user@host:folder`, `host::module` or `rsync://host/module`. Neither user nor
 * host may begin with a dash: rsync passes them to ssh, which would read an option.
 */
export const DESTINATION = new RegExp(
  `^(?:/|${USER}${HOST}::?(?!:|//)|rsync://${USER}${HOST}(?::\\d{1,5})?/)\\P{Cc}*$`,
  'u',
)

const SSH = new RegExp(`^(?:${USER})(${HOST}):(?!:|//)`)

/** sshHostOf finds the host that a destination reaches by SSH; undefined for any other. */
export function sshHostOf(destination: string): string | undefined {
  return SSH.exec(destination)?.[1]?.replace(/^\[|\]$/g, '')
}
