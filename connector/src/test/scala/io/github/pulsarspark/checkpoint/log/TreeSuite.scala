package io.github.pulsarspark.checkpoint.log

import io.github.pulsarspark.UnitSuite

class TreeSuite extends UnitSuite {

  private def file(text: String) = FileNode(new Content(text.getBytes), 1)

  private def path(text: String): Seq[String] = text.split('/').toSeq.filter(_.nonEmpty)

  private def tree(paths: String*): Tree =
    paths.foldLeft(Tree.empty)((t, p) => t.put(path(p), file(p), overwrite = false).getOrElse(fail(p)))

  test("a file is written with the folders above it, and counted") {
    val one = tree("a/b/c", "a/d")
    assertEquals(one.find(path("a/b/c")), Some(file("a/b/c")))
    assertEquals(one.find(path("a/b")).map(_.count), Some(2L))
    assertEquals((one.root.bytes, one.root.count), (8L, 5L))
    assertEquals(one.find(path("a/b/c/d")), None)
  }

  test("a file is replaced if asked, a folder never, and nothing is below a file") {
    val one = tree("a/b")
    assertEquals(one.put(path("a/b"), file("x"), overwrite = false), Left(Refusal.Exists))
    assertEquals(one.put(path("a/b"), file("x"), overwrite = true).map(_.root.bytes), Right(1L))
    assertEquals(one.put(path("a"), file("x"), overwrite = true), Left(Refusal.IsFolder))
    assertEquals(one.put(path("a/b/c"), file("x"), overwrite = true), Left(Refusal.NotFolder))
    assertEquals(one.makeFolder(path("a/b/c"), 1), Left(Refusal.NotFolder))
    assertEquals(one.makeFolder(path("a/b"), 1), Left(Refusal.Exists))
    assertEquals(one.makeFolder(path("a"), 1), Right(one))
  }

  test("a folder with files is deleted only as a whole; the root stays") {
    val one = tree("a/b", "c")
    assertEquals(one.delete(path("a"), recursive = false), Left(Refusal.NotEmpty))
    assertEquals(one.delete(path("a"), recursive = true), Right(tree("c")))
    assertEquals(one.delete(path("x"), recursive = true), Left(Refusal.Missing))
    assertEquals(one.delete(Nil, recursive = true).map(_.root.count), Right(1L))
  }

  test("a rename moves what is there, and replaces no more than a file or an empty folder") {
    val one = tree("a/b", "c", "e/f").makeFolder(path("d"), 1).getOrElse(fail("d"))
    def moved(from: String, to: String, overwrite: Boolean = true) = one.rename(path(from), path(to), overwrite)
    assertEquals(moved("a", "d/a", overwrite = false).map(_.find(path("d/a/b"))), Right(Some(file("a/b"))))
    assertEquals(moved("a", "d").map(_.find(path("d/b"))), Right(Some(file("a/b"))))
    assertEquals(moved("c", "a/b").map(_.root.count), Right(6L))
    assertEquals(moved("c", "a/b", overwrite = false), Left(Refusal.Exists))
    assertEquals(moved("a", "e"), Left(Refusal.NotEmpty))
    assertEquals(moved("a", "c"), Left(Refusal.NotFolder))
    assertEquals(moved("c", "a"), Left(Refusal.IsFolder))
    assertEquals(moved("a", "a/b/x"), Left(Refusal.Inside))
    assertEquals(moved("a", "x/y"), Left(Refusal.NoFolder))
    assertEquals(moved("x", "y"), Left(Refusal.Missing))
    assertEquals(moved("c", "c"), Right(one))
  }
}
