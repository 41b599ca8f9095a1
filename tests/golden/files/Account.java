package bank;

import java.util.ArrayList;
import java.util.List;

/** A savings account with its bookings. */
public class Account {
    private final String owner;
    private final List<Long> bookings = new ArrayList<>();

    public Account(String owner) {
        this.owner = owner;
    }

    /** Cents that are on the account. */
    public long balance() {
        return bookings.stream().mapToLong(Long::longValue).sum();
    }

    public void deposit(long cents) {
        if (cents <= 0) {
            throw new IllegalArgumentException("cents: " + cents);
        }
        bookings.add(cents);
    }

    public boolean withdraw(long cents) {
        if (cents > balance()) {
            return false;
        }
        bookings.add(-cents);
        return true;
    }

    @Override
    public String toString() {
        return owner + ": " + balance();
    }
}
