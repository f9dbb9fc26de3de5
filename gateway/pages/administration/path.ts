/** Where the page for administrators is served. */
export const administrationPath = '/admin';
