package io.github.pulsarspark.options.registry

/** The "did you mean" rule, the same as in the Python package: the known name with the least edit distance, letter case
  * aside, if that is at most a third of the longer name. Ties go to the first name in alphabetical order.
  */
private[pulsarspark] object NearestName {

  def apply(name: String, known: Seq[String]): Option[String] =
    known.sorted
      .flatMap { candidate =>
        val (one, other) = (name.toLowerCase, candidate.toLowerCase)
        val most         = math.max(name.length, candidate.length) / 3
        // As many letters have to be added at least, and counting the others takes long for a long name.
        Option.when(math.abs(one.length - other.length) <= most)(candidate -> distance(one, other)).filter(_._2 <= most)
      }
      .minByOption(_._2)
      .map(_._1)

  /** Levenshtein's distance. */
  def distance(a: String, b: String): Int =
    b.indices
      .foldLeft((0 to a.length).toVector) { (row, j) =>
        a.indices.scanLeft(j + 1)((left, i) =>
          Seq(left + 1, row(i + 1) + 1, row(i) + (if (a(i) == b(j)) 0 else 1)).min
        ).toVector
      }
      .last
}
