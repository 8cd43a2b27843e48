# frozen_string_literal: true

# Runs a file with an object as `self`. The code of the file sees the local variables of the method that runs it, so that
# the method has one alone, with the name that it has in Chef: `path ::File.dirname(x)` has to call `path`.
module FromFile
  def from_file(filename)
    instance_eval(File.read(filename, encoding: "UTF-8"), filename, 1)
  end

  def class_from_file(filename)
    class_eval(File.read(filename, encoding: "UTF-8"), filename, 1)
  end
end
