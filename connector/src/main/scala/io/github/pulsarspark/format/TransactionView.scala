package io.github.pulsarspark.format

/** Tells which transactions were aborted, of those whose outcome is decided. */
private[pulsarspark] trait TransactionView {

  /** Fails with [[UndecidedTransaction]] when it cannot be told. */
  def isAborted(mostBits: Long, leastBits: Long): Boolean
}

private[pulsarspark] object TransactionView {

  /** For entries from which somebody else has removed those of aborted transactions. */
  val NothingAborted: TransactionView = (_, _) => false
}

/** Nobody here knows what became of a transaction; the message says why. Whoever reads the entries has them delivered
  * by somebody who does.
  */
private[pulsarspark] final class UndecidedTransaction(reason: String)
    extends RuntimeException(reason, null, false, false)
