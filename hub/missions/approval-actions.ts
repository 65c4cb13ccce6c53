/** The actions that a mission carries out itself after the approval: what sends something to other machines. */
export const FOR_MISSIONS: readonly string[] = ['read_web', 'search_web']
