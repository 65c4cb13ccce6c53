/** The first number of every advisory lock of the hub. */
export const LOCK_SPACE = 8770

/** The second number: one for each thing that only one process may do at a time. */
export const LOCKS = {
  /** Counting the projects that a license allows. */
  license: 1,
  /** Sending mail. */
  mailer: 2,
  /** Backups and restores. */
  backup: 3,
  /** Scheduled missions. */
  improve: 4,
  /** Changing the schema. */
  migrate: 5,
} as const
