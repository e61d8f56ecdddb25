package io.github.pulsarspark.errors

/** What an exception says, in one line without a full stop: the client's messages go on with its state. */
private[pulsarspark] object FirstLine {
  def apply(e: Throwable): String = Option(e.getMessage)
    .flatMap(_.linesIterator.nextOption())
    .map(_.trim.stripSuffix("."))
    .filter(_.nonEmpty)
    .getOrElse(e.getClass.getSimpleName)
}
