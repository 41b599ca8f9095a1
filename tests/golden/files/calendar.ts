export interface Entry {
  title: string;
  start: Date;
  minutes: number;
}

/** Entries of one person, sorted by start. */
export class Calendar {
  private entries: Entry[] = [];

  add(entry: Entry): void {
    if (entry.minutes <= 0) {
      throw new RangeError(`minutes: ${entry.minutes}`);
    }
    this.entries.push(entry);
    this.entries.sort((a, b) => a.start.getTime() - b.start.getTime());
  }

  conflicts(): [Entry, Entry][] {
    const found: [Entry, Entry][] = [];
    for (let i = 1; i < this.entries.length; i++) {
      const before = this.entries[i - 1];
      if (before.start.getTime() + before.minutes * 60_000 > this.entries[i].start.getTime()) {
        found.push([before, this.entries[i]]);
      }
    }
    return found;
  }
}

export const free = (calendar: Calendar): boolean => calendar.conflicts().length === 0;
