/** The first half of every advisory lock of the hub. */
export const LOCK_SPACE = 8770

/** What only one process does at a time, each under a number of its own: the second half. */
export const LOCKS = {
  /** Counting the projects that a licence allows. */
  license: 1,
  /** Sending mail. */
  mailer: 2,
  /** Backups and restores. */
  backup: 3,
  /** The missions that begin by themselves. */
  improve: 4,
  /** Changing the schema. */
  migrate: 5,
} as const
