package org.apache.pulsar.client.impl;

/**
 * The value of a header that is sent but not shown. At level DEBUG the HTTP client logs the texts of all headers, while
 * it sends their characters.
 */
final class HiddenHeader implements CharSequence {

    private final String value;

    HiddenHeader(String value) {
        this.value = value;
    }

    @Override
    public int length() {
        return value.length();
    }

    @Override
    public char charAt(int index) {
        return value.charAt(index);
    }

    @Override
    public CharSequence subSequence(int start, int end) {
        return new HiddenHeader(value.substring(start, end));
    }

    @Override
    public String toString() {
        return "***";
    }
}
